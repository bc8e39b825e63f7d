import type { Mutant } from './mutants.ts'

/** What became of a mutant: `late` is killed by the clock, `unreached` lies where no test comes. */
export type Result = { state: 'killed' | 'late' | 'survived' | 'unreached'; by?: string }

/** The results of one source file, which count as long as it is the same. */
type FileResults = { hash: number; results: Record<string, Result> }

export type Results = {
  of(mutant: Mutant): Result | undefined
  set(mutant: Mutant, result: Result): Promise<void>
}

/** Reads the results that are kept at `path`; those of files that changed are dropped. */
export async function openResults(root: string, path: string): Promise<Results> {
  const kept: Record<string, FileResults> = (await Bun.file(path).exists())
    ? await Bun.file(path).json()
    : {}
  const hashes = new Map<string, number>()
  const hashOf = async (file: string): Promise<number> => {
    const known = hashes.get(file)
    if (known !== undefined) return known
    const hash = Number(Bun.hash.crc32(await Bun.file(`${root}/${file}`).text()))
    hashes.set(file, hash)
    return hash
  }
  for (const [file, { hash }] of Object.entries(kept)) {
    const isThere = await Bun.file(`${root}/${file}`).exists()
    if (!isThere || hash !== (await hashOf(file))) delete kept[file]
  }
  return {
    of: (mutant) => kept[mutant.file]?.results[nameOf(mutant)],
    async set(mutant, result) {
      const hash = await hashOf(mutant.file)
      const entry = kept[mutant.file] ?? { hash, results: {} }
      kept[mutant.file] = entry
      entry.results[nameOf(mutant)] = result
      await Bun.write(path, JSON.stringify(kept))
    },
  }
}

const nameOf = ({ from, to, by }: Mutant): string => `${from}-${to} ${by}`
