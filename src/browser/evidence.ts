/** Reads quotes and policies for pages; loaded only where a reader gives one. */
export { readBeside, trustWith } from '../verify/beside.ts'
