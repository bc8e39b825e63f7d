import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'

export type Certified = { key: string; cert: string }

/** A certificate authority of a test's own, in a temporary folder. Needs `openssl`. */
export async function makeAuthority() {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-ca-'))
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const isAuthority = ['-addext', 'basicConstraints=critical,CA:TRUE']
  await $`openssl req -x509 ${key} -keyout ca.key -out ca.pem -days 2 -subj /CN=test ${isAuthority}`
    .cwd(folder)
    .quiet()
  const read = (name: string) => Bun.file(join(folder, name)).text()
  return {
    /** The file of its certificate. */
    path: join(folder, 'ca.pem'),
    /** A key and a certificate for e.g. `DNS:localhost`. */
    async certify(name: string, subject: string): Promise<Certified> {
      await $`openssl req ${key} -keyout ${name}.key -out ${name}.csr -subj /CN=test`
        .cwd(folder)
        .quiet()
      await Bun.write(join(folder, `${name}.ext`), `subjectAltName=${subject}\n`)
      await $`openssl x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out ${name}.pem -days 2 -extfile ${name}.ext`
        .cwd(folder)
        .quiet()
      return { key: await read(`${name}.key`), cert: await read(`${name}.pem`) }
    },
    remove: () => rm(folder, { recursive: true }),
  }
}
