/** Starts agents for the terminal as docs/clients.md says, each in a home and a project of its own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Asked, Call, Turn } from '../support/scripted-upstream.ts'
import { type Cli, quiet } from './installed.ts'
import { fill, recipe } from './recipes.ts'

/** Its line in the project before, and the one that the model adds. */
export const before = 'first line\n'
const added = 'second line'
export const after = `${before}${added}\n`
export const answerWords = ['The line', ' is', ' added.']

type Agent = {
  /** Where its configuration goes: from the home, or from the project. */
  config?: { marker: string; path: string; in: 'home' | 'project' }
  /** How a prompt goes on with the last conversation. */
  goOn(line: string): string
  /** The calls that add the line, one a turn. */
  steps: (file: string) => Omit<Call, 'id'>[]
}

export const agents: Record<Cli, Agent> = {
  claude: {
    goOn: (line) => line.replace('claude -p', 'claude -c -p'),
    steps: (file): Omit<Call, 'id'>[] => [
      { name: 'Read', args: { file_path: file } },
      {
        name: 'Edit',
        args: { file_path: file, old_string: before, new_string: after },
      },
    ],
  },
  codex: {
    config: { marker: 'codex config', path: '.codex/config.toml', in: 'home' },
    goOn: (line) => line.replace(/--sandbox \S+ /, '').replace('exec', 'exec resume --last'),
    steps: () => [{ name: 'exec_command', args: { cmd: `echo '${added}' >> notes.txt` } }],
  },
  opencode: {
    config: { marker: 'opencode config', path: 'opencode.json', in: 'project' },
    goOn: (line) => line.replace('run', 'run --continue'),
    steps: (file): Omit<Call, 'id'>[] => [
      { name: 'read', args: { filePath: file } },
      {
        name: 'edit',
        args: { filePath: file, oldString: before, newString: after },
      },
    ],
  },
}

type Made = { origin: string; secret: string; large: string; small: string; program: string }
export type Done = { code: number | null; words: string }

export async function makeProject(cli: Cli, made: Made) {
  const root = await mkdtemp(join(tmpdir(), `counterfoil-${cli}-`))
  const home = join(root, 'home')
  const project = join(root, 'project')
  for (const folder of [home, project]) mkdirSync(folder)
  const file = join(project, 'notes.txt')
  writeFileSync(file, before)
  const { config, goOn } = agents[cli]
  if (config) {
    const path = join(config.in === 'home' ? home : project, config.path)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, fill(recipe(config.marker), made))
  }
  const command = fill(recipe(cli), made)
  const start = (text: string) =>
    // The last line takes the place of the shell, so that signals reach the agent itself.
    Bun.spawn(['bash', '-c', text.replace(/(\w+ [^\n]*)$/, 'exec $1')], {
      timeout: 200_000,
      cwd: project,
      env: {
        ...quiet,
        HOME: home,
        PATH: `${dirname(made.program)}:${process.env['PATH'] ?? ''}`,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  const finish = async (child: ReturnType<typeof start>): Promise<Done> => {
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, words: out + err }
  }
  return {
    notes: () => readFileSync(file, 'utf8'),
    /** What the model does: it adds the line, then says so. */
    turnFor(asked: Asked): Turn {
      const wanted = agents[cli].steps(file)
      const step = wanted[asked.turns]
      if (!step || !asked.tools.includes(step.name)) return { words: answerWords, calls: [] }
      return { words: [], calls: [{ id: `call_${asked.turns}`, ...step }] }
    },
    /** Types what the page says; `retyped` changes a line of it. */
    run: (retyped = (line: string): string => line) => finish(start(retyped(command))),
    goOn: () => finish(start(goOn(command))),
    /** Starts it, and sends what Ctrl+C sends when `until` is there. */
    async interrupt(until: () => Promise<unknown>): Promise<Done> {
      const child = start(command)
      const done = finish(child)
      await Promise.race([until(), done])
      child.kill('SIGINT')
      return done
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

export type Project = Awaited<ReturnType<typeof makeProject>>
