/**
 * Tags the test or the group below it as a proof of a promise: promise`A5`. One of its tests also
 * tells the promise and its weight: promise`A5 C: A revoked key is refused from the answer on.`
 * `bun scripts/assurance.ts` reads the tags from the text of the tests; they do nothing in a run.
 */
export function promise(_tag: TemplateStringsArray): void {}

/**
 * Tags the test below it as one that sees a fault: fault`3`. Once the tag also tells the fault, the
 * expected result and the drills that show it: fault`3: a sync fails → reads go on [crash, soak]`.
 * One that only drills show is tagged in a file of `drills/`.
 */
export function fault(_tag: TemplateStringsArray): void {}
