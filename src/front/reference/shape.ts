import type { TSchema } from '@sinclair/typebox'
import type { Schema } from './schema.ts'

/** The shape that a door checks a body with, as the schema of the document: written once. */
export const shapeOf = (shape: TSchema): Schema => JSON.parse(JSON.stringify(shape))
