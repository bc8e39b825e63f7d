/** Reads quotes, evidence and policies for pages; loaded only where there is one. */
export { readSupplements, trustWith } from '../verify/supplements.ts'
export { evidenceCheck } from '../verify/upstream-evidence.ts'
