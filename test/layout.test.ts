/** Where a file may stand, and what it may import. */
import { describe, expect, test } from 'bun:test'
import { basename, dirname } from 'node:path'
import {
  filesImportedBy,
  filesWith,
  importsOf,
  resolve,
  source,
  tracked,
} from './support/source.ts'

type Floor = 'kernel' | 'domain' | 'rows' | 'outside' | 'door' | 'house' | 'browser' | 'build'

/** What each floor may import at run time. `import type` is free: it is gone when we run. */
const mayImport: Record<Floor, Floor[]> = {
  kernel: ['kernel'],
  domain: ['kernel', 'domain', 'rows'],
  // How rows of a command are loaded and written: steps, which only a store's engine runs.
  rows: ['kernel', 'domain', 'rows'],
  outside: ['kernel', 'domain', 'rows', 'outside'],
  door: ['kernel', 'domain', 'door'],
  house: ['kernel', 'domain', 'rows', 'outside', 'door', 'house'],
  browser: ['kernel', 'domain', 'browser'],
  // Runs while Bun transpiles; what is left of it is the value it returned.
  build: ['kernel', 'domain', 'build'],
}

const packages: Record<Floor, RegExp> = {
  kernel: /^(node:net|canonicalize|@noble\/.+)$/,
  domain:
    /^(node:net$|viem|@noble\/|siwe|lru-cache|gpt-tokenizer\/(data|encodingParams)\/|@pydantic\/genai-prices$)/,
  rows: /^drizzle-orm$/,
  outside: /^(drizzle-orm|bun|node:|viem|secp256k1|@noble\/|lru-cache|aws4fetch)/,
  door: /^(node:(net|zlib)$|elysia|@elysiajs\/|@sinclair\/typebox|@kitajs\/|d3-|uqr|@modelcontext|lru-cache|@resvg)/,
  house: /./,
  browser: /^(viem|@noble\/|htmx)/,
  build: /^(node:(fs|path)|bun:sqlite|viem|@noble\/.+)$/,
}

/** The floor a file stands on, by its path alone. */
function floorOf(file: string): Floor {
  if (file.endsWith('.macro.ts')) return 'build'
  if (file.startsWith('src/kernel/')) return 'kernel'
  if (file.startsWith('src/browser/')) return 'browser'
  if (/^src\/(web|front\/reference)\//.test(file)) return 'door'
  if (/^src\/((app|config|cli)\/|main\.ts$)/.test(file)) return 'house'
  if (/\/(api|portal|pages)(\/|\.tsx?$)|\/(needs-|shapes\.ts$)|[/-]reference\.ts$/.test(file))
    return 'door'
  if (/-rows\.ts$|\/db\/sql\/query-steps\.ts$/.test(file)) return 'rows'
  if (/^src\/\w+\/(db|chain|upstream|signer)\/|\/store(\/|\.ts$)|\/ledger\/post/.test(file))
    return 'outside'
  return 'domain'
}

/** The room of a file: its wing, and the folder in it unless that is a floor of a one-room wing. */
function roomOf(file: string): string {
  const [, wing, room] = dirname(file).split('/')
  const isFloor = room === undefined || /^(api|store|portal|pages)$/.test(room)
  return isFloor ? `${wing}` : `${wing}/${room}`
}

/**
 * Which wing may import which, in types too. A wing stands below those that it may import, so they
 * never form a circle; `app` composes them all.
 */
const wings: Record<string, string[]> = {
  kernel: [],
  verify: ['kernel'],
  storage: ['kernel', 'verify'],
  web: ['kernel', 'verify', 'storage'],
  ledger: ['kernel', 'verify', 'storage'],
  access: ['kernel', 'verify', 'storage', 'web', 'ledger'],
  models: ['kernel', 'verify', 'web', 'access'],
  proof: ['kernel', 'verify', 'storage', 'web', 'ledger', 'access', 'models'],
  billing: ['kernel', 'verify', 'storage', 'web', 'ledger', 'access', 'models', 'proof'],
  config: ['kernel', 'verify', 'storage', 'access', 'models'],
  runs: lowerWings('billing'),
  front: lowerWings('billing', 'runs'),
  app: lowerWings('billing', 'config', 'runs', 'front'),
  browser: ['kernel', 'verify', 'models', 'proof', 'billing', 'front'],
  cli: lowerWings('billing', 'config', 'runs', 'app'),
}

/** What every wing that answers people or agents may import, and these. */
function lowerWings(...more: string[]): string[] {
  return ['kernel', 'verify', 'storage', 'web', 'ledger', 'access', 'models', 'proof', ...more]
}

describe('wings', () => {
  test('src holds the wings and main.ts, and nothing else', () => {
    const entries = new Set(tracked.flatMap((file) => /^src\/([^/]+)/.exec(file)?.[1] ?? []))
    expect([...entries].sort()).toEqual([...Object.keys(wings), 'main.ts'].sort())
  })

  test('a wing imports the wings that the table gives it and no other, unless the file is a port', () => {
    const wingOf = (file: string) => file.split('/')[1] ?? ''
    const wrong: string[] = []
    const unused = new Set(
      Object.entries(wings).flatMap(([from, to]) => to.map((wing) => `${from} -> ${wing}`)),
    )
    for (const [file, body] of source) {
      if (file === 'src/main.ts') continue
      for (const target of allImportsOf(file, body)) {
        const [from, to] = [wingOf(file), wingOf(target)]
        unused.delete(`${from} -> ${to}`)
        const isFree = target.endsWith('-port.ts') || from === to
        if (!isFree && !wings[from]?.includes(to)) wrong.push(`${file} -> ${target}`)
      }
    }
    expect(wrong).toEqual([])
    expect([...unused]).toEqual([])
  })

  test('the table of wings has no circle', () => {
    expect(findCircle(new Map(Object.entries(wings)))).toBeUndefined()
  })

  test('a port holds types alone', () => {
    const ports = new Map([...source].filter(([file]) => file.endsWith('-port.ts')))
    expect(filesWith(/^(export )?(const|let|function|class|async)\b/, ports)).toEqual([])
    expect([...ports.keys()].flatMap(importsOf)).toEqual([])
  })

  test('the HTTP client for model servers is imported by wire/wire.ts alone', () => {
    const folder = 'src/models/upstream/wire/'
    const wrong = [...source].flatMap(([file, body]) =>
      [...body.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)]
        .map(([, from = '']) => resolve(file, from))
        .filter((target) => target.startsWith(folder) && !file.startsWith(folder))
        .filter((target) => target !== `${folder}wire.ts`)
        .map((target) => `${file} -> ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('an api file outside api/ mounts a route', () => {
    const doors = [...source].filter(([file]) => /\/(api\.ts|portal\.tsx|pages\.tsx)$/.test(file))
    const idle = doors.filter(([, body]) => !/\bnew Elysia\(/.test(body))
    expect(idle.map(([file]) => file)).toEqual([])
  })

  test('a file begins with a sentence that says what it decides or does', () => {
    const silent = [...source].filter(([, body]) => !/^(#!.*\n)?(\/\*\*|\/\/) ?/.test(body))
    expect(silent.map(([file]) => file)).toEqual([])
  })

  test('no name of a file occurs in three rooms, but for floors and commands', () => {
    const rooms = new Map<string, Set<string>>()
    for (const file of source.keys()) {
      const name = basename(file).replace(/\.tsx?$/, '')
      // A command's file and a browser script carry the name of what they serve.
      if (/^src\/(cli|browser)\//.test(file) || floorNames.has(name)) continue
      rooms.set(name, (rooms.get(name) ?? new Set()).add(roomOf(file)))
    }
    expect([...rooms].filter(([, where]) => where.size > 2).map(([name]) => name)).toEqual([])
  })
})

/** Files that every room may have, named for their floor. */
const floorNames = new Set(['api', 'pages', 'portal', 'reference', 'shapes', 'store'])

describe('floors', () => {
  test('a file imports only what its floor may', () => {
    const wrong: string[] = []
    for (const file of source.keys()) {
      const floor = floorOf(file)
      for (const from of importsOf(file)) {
        if (!from.startsWith('.')) {
          if (!packages[floor].test(from)) wrong.push(`${file} (${floor}) -> ${from}`)
          continue
        }
        const target = floorOf(resolve(file, from))
        // A port stands beside what implements it; its types and failures are for all.
        const port = /\/(\w+)\/\1\.ts$/.test(resolve(file, from)) && target === 'outside'
        const free = port || target === 'build'
        if (/\.tsx?$/.test(from) && !free && !mayImport[floor].includes(target)) {
          wrong.push(`${file} (${floor}) -> ${resolve(file, from)} (${target})`)
        }
      }
    }
    expect(wrong).toEqual([])
  })

  test('a door never reaches a store', () => {
    const doors = [...source.keys()].filter((file) => floorOf(file) === 'door')
    const isStore = (from: string) => /\/store(\/[\w-]+)?\.ts$/.test(from)
    const wrong = doors.filter((file) => importsOf(file).some(isStore))
    expect(wrong).toEqual([])
  })

  test('files import each other in no circle, in types too', () => {
    const edges = new Map([...source].map(([file, body]) => [file, allImportsOf(file, body)]))
    expect(findCircle(edges)).toBeUndefined()
  })

  test('folders import each other in no circle', () => {
    const edges = new Map<string, string[]>()
    for (const file of source.keys()) {
      if (floorOf(file) === 'house' || floorOf(file) === 'build') continue
      const folder = roomOf(file)
      const lasting = filesImportedBy(file).filter((other) => floorOf(other) !== 'build')
      const others = lasting.map(roomOf)
      edges.set(folder, [
        ...(edges.get(folder) ?? []),
        ...others.filter((other) => other !== folder),
      ])
    }
    expect(findCircle(edges)).toBeUndefined()
  })
})

/** Files that a file imports, for types alone too. A macro leaves nothing but a value behind. */
function allImportsOf(file: string, body: string): string[] {
  const imports = [...body.matchAll(/(?:from|import\() ?'(\.[^']+\.tsx?)'/g)]
  const targets = imports.map(([, from = '']) => resolve(file, from))
  return targets.filter((target) => source.has(target) && !target.endsWith('.macro.ts'))
}

function findCircle(edges: Map<string, string[]>): string | undefined {
  const done = new Set<string>()
  const visit = (node: string, path: string[]): string | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(' -> ')
    if (done.has(node)) return undefined
    for (const next of edges.get(node) ?? []) {
      const circle = visit(next, [...path, node])
      if (circle) return circle
    }
    done.add(node)
    return undefined
  }
  for (const node of edges.keys()) {
    const circle = visit(node, [])
    if (circle) return circle
  }
  return undefined
}
