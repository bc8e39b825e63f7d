import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asOrdinaryUser } from './binary.ts'
import { freePort } from './free-port.ts'

/** Debian's PgBouncer; undefined where it is not installed or cannot run as an ordinary user. */
export const pgbouncer = asOrdinaryUser
  ? (Bun.which('pgbouncer') ?? ['/usr/sbin/pgbouncer'].find((path) => existsSync(path)))
  : undefined

export type PgBouncer = {
  port: number
  /** The URL of a database by way of the pooler; `query` is appended, for instance `?prepare=false`. */
  url(database: string, query?: string): string
  stop(): Promise<void>
}

export type PgBouncerOptions = {
  /** The server behind it, with user and password; its database is ignored. */
  server: string
  poolMode?: 'transaction' | 'session'
  /** Connections to the server for each database. */
  poolSize?: number
  /** How long it leaves a server alone that it could not log in to; 15 by default. */
  loginRetryS?: number
  /** Password that clients must give; any client is let in when absent. */
  password?: string
}

/** Starts a PgBouncer on a free port of loopback, with its files in a temporary folder. */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  if (!pgbouncer) throw new Error('pgbouncer is not installed')
  const { poolMode = 'transaction', poolSize = 4, loginRetryS = 15, password } = options
  const { hostname, port: serverPort, username, password: serverPassword } = new URL(options.server)
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  const port = freePort()
  const host = hostname.replace(/^\[|\]$/g, '')
  const secret = serverPassword === '' ? '' : ` password=${decodeURIComponent(serverPassword)}`
  const users = join(folder, 'users.txt')
  const auth = password === undefined ? 'auth_type = any' : `auth_type = md5\nauth_file = ${users}`
  await writeFile(users, `"${username}" "${password ?? ''}"\n`)
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${host} port=${serverPort || 5432} user=${username}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
${auth}
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
max_client_conn = 500
server_login_retry = ${loginRetryS}
`,
  )
  // PgBouncer refuses to run as root, and reads its files as the user it runs as.
  await chmod(folder, 0o755)
  const command = [...(asOrdinaryUser ?? []), pgbouncer, '-q', join(folder, 'pgbouncer.ini')]
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await child.exited
    await rm(folder, { recursive: true, force: true })
  }
  if (!(await isListening(port, child))) {
    const said = child.exitCode === null ? 'no answer' : await new Response(child.stderr).text()
    await stop()
    throw new Error(`pgbouncer did not start: ${said}`)
  }
  const login = password === undefined ? username : `${username}:${password}`
  return {
    port,
    url: (database, query = '') => `postgres://${login}@127.0.0.1:${port}/${database}${query}`,
    stop,
  }
}

async function isListening(port: number, child: Bun.Subprocess): Promise<boolean> {
  for (let tried = 0; tried < 200 && child.exitCode === null; tried++) {
    try {
      const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
      socket.end()
      return true
    } catch {
      await Bun.sleep(25)
    }
  }
  return false
}
