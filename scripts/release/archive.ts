/** The archive of one platform: the executable and the licence. */
import { join } from 'node:path'
import { type Platform, suffixOf } from '../build.ts'
import { tarGzOf } from './tar.ts'

export const archiveOf = (version: string, platform: Platform): string =>
  `counterfoil-${version}-${platform}.tar.gz`

/** Writes it into a folder and returns its name. @param mtime seconds since 1970 */
export async function writeArchive(
  { version, mtime }: { version: string; mtime: number },
  platform: Platform,
  executable: string,
  folder: string,
): Promise<string> {
  const name = archiveOf(version, platform)
  const top = name.slice(0, -'.tar.gz'.length)
  const entries = [
    { path: `${top}/`, mode: 0o755 },
    {
      path: `${top}/counterfoil${suffixOf(platform)}`,
      mode: 0o755,
      body: await Bun.file(executable).bytes(),
    },
    { path: `${top}/LICENSE`, mode: 0o644, body: await Bun.file('LICENSE').bytes() },
  ]
  await Bun.write(join(folder, name), tarGzOf(entries, mtime))
  return name
}
