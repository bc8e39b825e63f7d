import type { Mutant } from './mutants.ts'

/** Why no test can, or need, notice what a line became: by file, then by the text of the line. */
const explained: Record<string, Record<string, string>> = {}

/** Why a mutant may survive; undefined where a test is missing. */
export const explanationOf = ({ file, text }: Mutant): string | undefined => explained[file]?.[text]
