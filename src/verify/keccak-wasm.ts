import { createKeccak } from 'hash-wasm'
import { useKeccak } from './keccak.ts'

/** Makes every keccak of this process run in WebAssembly; once, at start, on servers only. */
export async function useWasmKeccak(): Promise<void> {
  const hasher = await createKeccak(256)
  useKeccak((bytes) => {
    hasher.init()
    hasher.update(bytes)
    return hasher.digest('binary')
  })
}
