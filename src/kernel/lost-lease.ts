/** A lease ran out, or went to somebody else: what was to be done under it was undone. */
export class LostLease extends Error {}
