/** Loads tokenizers: each when a model that has it is first asked. */
import type { Tokenizer, TokenizerName } from './tokenizer.ts'

const loaded: { [Name in TokenizerName]?: Tokenizer } = {}

/** A tokenizer; the first call reads its words, some megabytes. */
export async function loadTokenizer(name: TokenizerName): Promise<Tokenizer> {
  loaded[name] ??= await read(name)
  return loaded[name]
}

/** A tokenizer that was loaded before; undefined for others. */
export const loadedTokenizer = (name: TokenizerName): Tokenizer | undefined => loaded[name]

async function read(name: TokenizerName): Promise<Tokenizer> {
  const { load } =
    name === 'o200k_base' ? await import('./o200k-base.ts') : await import('./cl100k-base.ts')
  return load()
}
