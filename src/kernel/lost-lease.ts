/** A lease expired or went to another process; the transaction under it was rolled back. */
export class LostLease extends Error {}
