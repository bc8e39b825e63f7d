/** Embeds the Keccak module while Bun transpiles. */
import { keccakModule } from './keccak-code.ts'

/** The module that computes Keccak-256, put together while Bun transpiles, as base64. */
export const embedKeccak = (): string => Buffer.from(keccakModule()).toString('base64')
