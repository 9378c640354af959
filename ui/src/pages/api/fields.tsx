/** The fields of a schema as a table. Nested shapes are inside, opened one by one, so a shape may contain itself. */
import { useState } from "preact/hooks";
import { limits, optionsOf, resolved, type Schema, type Schemas, typeWords } from "./openapi.js";

interface FieldsProps {
  readonly schema: Schema;
  readonly schemas: Schemas;
  readonly label: string;
  /** True in a response, where a field that is not required may be absent. */
  readonly isAnswer?: boolean;
}

export function Fields({ schema: given, schemas, label, isAnswer = false }: FieldsProps) {
  const { schema } = resolved(given, schemas);
  const inner = shapeIn(schema, schemas);
  if (inner && inner !== schema) {
    return (
      <div class="stack fields-inner">
        <p class="muted small">{typeWords(given, schemas)}</p>
        <Fields schema={inner} schemas={schemas} label={label} isAnswer={isAnswer} />
      </div>
    );
  }
  const options = optionsOf(schema).filter((one) => shapeIn(one, schemas));
  if (options.length > 0) return <Options options={options} schemas={schemas} label={label} isAnswer={isAnswer} />;
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return <p class="muted">{typeWords(given, schemas)}</p>;
  return (
    <ul class="fields" aria-label={label}>
      {properties.map(([name, field]) => (
        <FieldLine
          key={name}
          name={name}
          field={field}
          isRequired={schema.required?.includes(name) === true}
          schemas={schemas}
          isAnswer={isAnswer}
        />
      ))}
    </ul>
  );
}

interface OptionsProps {
  readonly options: readonly Schema[];
  readonly schemas: Schemas;
  readonly label: string;
  /** True in a response, where a field that is not required may be absent. */
  readonly isAnswer?: boolean;
}

function Options({ options, schemas, label, isAnswer = false }: OptionsProps) {
  if (options.length === 1 && options[0]) {
    return <Fields schema={options[0]} schemas={schemas} label={label} isAnswer={isAnswer} />;
  }
  return (
    <ul class="stack fields-options" aria-label={label}>
      {options.map((option, at) => (
        <li key={typeWords(option, schemas) + at}>
          <p class="muted small">{at === 0 ? "One of these:" : "or"}</p>
          <Fields schema={option} schemas={schemas} label={`${label}, choice ${at + 1}`} isAnswer={isAnswer} />
        </li>
      ))}
    </ul>
  );
}

interface FieldLineProps {
  readonly name: string;
  readonly field: Schema;
  readonly isRequired: boolean;
  readonly schemas: Schemas;
  readonly isAnswer?: boolean;
}

export function FieldLine({ name, field, isRequired, schemas, isAnswer = false }: FieldLineProps) {
  const [isOpen, setOpen] = useState(false);
  const { schema } = resolved(field, schemas);
  const inner = innerOf(schema, schemas);
  const words = limits(schema);
  return (
    <li>
      <div class="field-line">
        <code class="field-name">{name}</code>
        <span class="field-type">{typeWords(field, schemas)}</span>
        {isRequired && !isAnswer && <span class="badge accent">required</span>}
        {!isRequired && isAnswer && <span class="muted small">may be absent</span>}
        {words !== "" && <span class="muted small">{words}</span>}
      </div>
      {schema.description !== undefined && <p class="muted">{schema.description}</p>}
      {inner && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Fields of {name}</summary>
          {isOpen && <Fields schema={inner} schemas={schemas} label={`Fields of ${name}`} isAnswer={isAnswer} />}
        </details>
      )}
    </li>
  );
}

/** The object to show for a schema: itself, or what its list contains. */
function shapeIn(given: Schema, schemas: Schemas): Schema | undefined {
  const { schema } = resolved(given, schemas);
  if (schema.properties && Object.keys(schema.properties).length > 0) return schema;
  return schema.type === "array" && schema.items ? innerOf(schema, schemas) : undefined;
}

/** What there is to open below a field. */
function innerOf(schema: Schema, schemas: Schemas): Schema | undefined {
  if (schema.properties && Object.keys(schema.properties).length > 0) return schema;
  if (schema.type === "array" && schema.items) return innerOf(resolved(schema.items, schemas).schema, schemas);
  return optionsOf(schema).some((one) => innerOf(resolved(one, schemas).schema, schemas)) ? schema : undefined;
}
