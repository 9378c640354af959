import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { GROUPS } from "./groups.js";
import { slim } from "./slim.js";

type Json = { readonly [key: string]: unknown };

const target = { target: "draft-2020-12" } as const;
const inputOf = (schema: z.ZodObject): Json => slim(schema)["~standard"].jsonSchema.input(target) as Json;

const schema = z.strictObject({
  count: z.int().max(9),
  plain: z.int(),
  share: z.number().min(0),
  names: z.record(z.string(), z.array(z.int())),
  inner: z.strictObject({ kind: z.enum(["a", "b"]).exactOptional() }),
});

describe("a slim schema", () => {
  it("leaves out what says nothing, at every depth, and keeps the rest", () => {
    const told = (strict: object) => ({
      type: "object",
      properties: {
        count: { type: "integer", maximum: 9 },
        plain: { type: "integer" },
        share: { type: "number", minimum: 0 },
        names: { type: "object", additionalProperties: { type: "array", items: { type: "integer" } } },
        inner: { type: "object", properties: { kind: { type: "string", enum: ["a", "b"] } }, ...strict },
      },
      required: ["count", "plain", "share", "names", "inner"],
      ...strict,
    });
    expect(inputOf(schema)).toEqual(told({ additionalProperties: false })); // tells the model that other fields are refused
    expect(slim(schema)["~standard"].jsonSchema.output(target)).toEqual(told({}));
  });

  it("checks what the schema checks", async () => {
    const { validate } = slim(schema)["~standard"];
    const good = { count: 1, plain: 1, share: 0, names: { a: [1] }, inner: {} };
    expect(await validate(good)).toEqual({ value: good });
    for (const bad of [{ ...good, more: 1 }, { ...good, count: 10 }, { ...good, inner: { kind: "c" } }, {}]) {
      expect((await validate(bad)).issues).toHaveLength("count" in bad ? 1 : 5);
    }
    expect(slim(schema).safeParse(good).success).toBe(true);
  });

  it("leaves the schema that it was made of as it is", () => {
    inputOf(schema);
    expect(schema["~standard"].jsonSchema.input(target)).toMatchObject({ additionalProperties: false });
  });

  it("of every tool is one that a validator takes, and says the same of every field as the full one", () => {
    const ajv = new Ajv2020();
    for (const { input, output, name } of GROUPS.flatMap(({ tools }) => tools)) {
      for (const one of [inputOf(input), slim(output)["~standard"].jsonSchema.output(target) as Json]) {
        expect(ajv.validateSchema(one), name).toBe(true);
        expect(JSON.stringify(one)).not.toContain("$schema");
      }
      const full = input["~standard"].jsonSchema.input(target) as Json;
      expect(Object.keys(inputOf(input)["properties"] ?? {})).toEqual(Object.keys(full["properties"] ?? {}));
      expect(inputOf(input)["required"]).toEqual(full["required"]);
    }
  });
});
