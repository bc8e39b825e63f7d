/** JSON Schema, as the document and its pages hold it. */
import type { Json } from '../../kernel/canonical.ts'

/** A JSON Schema (2020-12), which is what OpenAPI 3.1 describes bodies with. */
export type Schema = { [keyword: string]: Json }

/** The schemas of a document by their names. */
export type Schemas = Readonly<Record<string, Schema>>
