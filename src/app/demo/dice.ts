/** Draws that follow from a seed: the same month at every start. */
import { createHash } from 'node:crypto'

export type Dice = ReturnType<typeof diceOf>

export function diceOf(seed: string) {
  let count = 0
  const draw = (): number => {
    const bytes = createHash('sha256').update(`${seed} ${count++}`).digest()
    return bytes.readUInt32BE(0) / 2 ** 32
  }
  const between = (low: number, high: number): number => Math.floor(low + draw() * (high - low))
  return {
    /** A whole number from `low` up to, not including, `high`. */
    between,
    /** True this often, from 0 to 1. */
    chance: (share: number): boolean => draw() < share,
    pick: <T>(from: readonly [T, ...T[]]): T => from[between(0, from.length)] ?? from[0],
  }
}
