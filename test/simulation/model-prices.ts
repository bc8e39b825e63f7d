/** Prices that never come out even: pico-USD of a token, and nano-USD of a run. */
export const prices = { input: 1_234_567n, output: 2_345_678n, request: 321n }
/** What part of the list a run is charged by: other prices are those of a quote. */
export type Quoted = { times: bigint; per: bigint }
export const listed: Quoted = { times: 1n, per: 1n }

type Most = { input: number; output: number }

/** Rounded up, less what the plan takes off, which is rounded down. */
export function costOf(
  input: number,
  output: number,
  discountBps: bigint,
  quoted = listed,
): bigint {
  const of = (price: bigint) => (price * quoted.times) / quoted.per
  const sum = BigInt(input) * of(prices.input) + BigInt(output) * of(prices.output)
  const cost = (sum + of(prices.request) * 1000n + 999n) / 1000n
  return cost - (cost * discountBps) / 10_000n
}

/** The most output whose hold has room; one token where not even that has. */
export function fitted({ input, output }: Most, room: bigint, discountBps: bigint): number {
  let [least, most] = [1, output]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (costOf(input, middle, discountBps) <= room) least = middle
    else most = middle - 1
  }
  return least
}
