/** Reads quotes, evidence and policies for pages; loaded only where there is one. */
export { readBeside, trustWith } from '../verify/beside.ts'
export { evidenceCheck } from '../verify/upstream-evidence.ts'
