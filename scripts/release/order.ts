/** Compares texts by their bytes, so that no locale decides an order. */
export const compareBytes = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b))
