/** A type whose fields may be set: for values that are made field by field. */
export type Mutable<T> = { -readonly [name in keyof T]: T[name] };
