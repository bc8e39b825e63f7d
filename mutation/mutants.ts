import type { BinaryExpression, Node, SourceFile } from 'typescript/unstable/ast'
import { SyntaxKind } from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/async'

/** One small change of a source file that a test should notice. */
export type Mutant = {
  file: string
  /** From 1. */
  line: number
  /** The text of that line, trimmed. */
  text: string
  /** What is replaced, an expression or a statement: offsets into the file. */
  from: number
  to: number
  by: string
  isStatement: boolean
  /** A statement begins with it: a parenthesis there would go on with the one before. */
  isFirst: boolean
  /** It runs when the module is loaded, and not again. */
  isStatic: boolean
  /** What is changed, for people: `> to >=`. */
  change: string
}

/** Lists the mutants of files of a checkout, in the order in which they stand there. */
export async function mutantsOf(root: string, files: readonly string[]): Promise<Mutant[]> {
  const api = new API({ cwd: root })
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] })
    const program = snapshot.getProjects()[0]?.program
    const found: Mutant[] = []
    for (const file of files) {
      const source = await program?.getSourceFile(`${root}/${file}`)
      if (!source) throw new Error(`${file} is not part of the project`)
      found.push(...mutantsIn(source, file))
    }
    return found
  } finally {
    await api.close()
  }
}

function mutantsIn(source: SourceFile, file: string): Mutant[] {
  const found: Mutant[] = []
  const lines = source.text.split('\n')
  const add = (node: Node, by: string, change: string) => {
    const from = node.getStart(source)
    const line = source.text.slice(0, from).split('\n').length
    const text = (lines[line - 1] ?? '').trim()
    const isStatement = by === ''
    const isFirst = !isStatement && opensStatement(node, source)
    const isStatic = !isInFunction(node)
    found.push({ file, line, text, from, to: node.end, by, change, isStatement, isFirst, isStatic })
  }
  const visit = (node: Node): void => {
    if (is.isTypeNode(node) || is.isImportDeclaration(node) || isNoise(node, source)) return
    mutate(node, source, add)
    node.forEachChild((child) => {
      visit(child)
      return undefined
    })
  }
  visit(source)
  return found
}

const isInFunction = (node: Node): boolean =>
  is.isArrowFunction(node) ||
  is.isFunctionDeclaration(node) ||
  is.isFunctionExpression(node) ||
  is.isMethodDeclaration(node) ||
  is.isConstructorDeclaration(node) ||
  is.isGetAccessorDeclaration(node) ||
  (node.parent !== undefined && isInFunction(node.parent))

function opensStatement(node: Node, source: SourceFile): boolean {
  const above = node.parent
  if (above === undefined || above.getStart(source) !== node.getStart(source)) return false
  return is.isExpressionStatement(above) || opensStatement(above, source)
}

type Add = (node: Node, by: string, change: string) => void

/** What is said to logs and meters: a test of it would test words. */
function isNoise(node: Node, source: SourceFile): boolean {
  if (!is.isExpressionStatement(node)) return false
  return /^(yield\* |await |void )?(\w+\.)*(log|meters|metrics|meter)\??\./.test(
    node.getText(source),
  )
}

function mutate(node: Node, source: SourceFile, add: Add): void {
  if (is.isIfStatement(node)) {
    add(node.expression, 'false', 'the condition is false')
    // Any test that passes a guard notices one that always refuses.
    if (!isGuard(node.thenStatement, source)) add(node.expression, 'true', 'the condition is true')
  } else if (is.isBinaryExpression(node)) mutateBinary(node, source, add)
  else if (is.isConditionalExpression(node)) {
    const condition = node.condition.getText(source)
    if (!/^typeof |[<>]|^!|[=!]==/.test(condition)) {
      add(node.condition, `!(${condition})`, 'the condition is reversed')
    }
  } else if (is.isPrefixUnaryExpression(node)) {
    const isWhole = is.isIfStatement(node.parent) || is.isConditionalExpression(node.parent)
    if (node.operator === SyntaxKind.ExclamationToken && !isWhole) {
      add(node, `!!(${node.operand.getText(source)})`, 'without !')
    }
  } else if (is.isExpressionStatement(node) || is.isThrowStatement(node)) {
    const isStep = is.isThrowStatement(node) || isCall(node.expression)
    if (isStep && !isSoleOfGuard(node, source)) add(node, '', 'the statement is left out')
  } else if (is.isNumericLiteral(node) || is.isBigIntLiteral(node)) {
    if (!isCompared(node) && !isKey(node)) {
      add(node, `(${node.getText(source)} + ${is.isBigIntLiteral(node) ? '1n' : '1'})`, 'one more')
    }
  } else if (is.isCallExpression(node)) mutateCall(node, source, add)
}

/** Whether nothing else is done than to refuse, to throw or to leave. */
const isGuard = (node: Node, source: SourceFile): boolean =>
  /^\{?\s*(return )?(refuse|no|fail|throw|wrong)\b[^\n]*(\n\s+[^\n]*)*\}?$/.test(
    node.getText(source),
  ) && node.getText(source).split('\n').length <= 8

/** The only thing a guard does: without it is as without the guard. */
function isSoleOfGuard(node: Node, source: SourceFile): boolean {
  const above = node.parent
  if (is.isIfStatement(above)) return above.thenStatement === node
  return is.isBlock(above) && above.statements.length === 1 && is.isIfStatement(above.parent)
    ? above.parent.thenStatement === above && isGuard(above, source)
    : false
}

/** A call that can be left out: without `super` no object is made at all. */
const isCall = (node: Node): boolean =>
  (is.isCallExpression(node) && node.expression.kind !== SyntaxKind.SuperKeyword) ||
  ((is.isYieldExpression(node) || is.isAwaitExpression(node) || is.isVoidExpression(node)) &&
    node.expression !== undefined &&
    isCall(node.expression))

const swapped: Partial<Record<SyntaxKind, string>> = {
  [SyntaxKind.LessThanToken]: '<=',
  [SyntaxKind.LessThanEqualsToken]: '<',
  [SyntaxKind.GreaterThanToken]: '>=',
  [SyntaxKind.GreaterThanEqualsToken]: '>',
  [SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [SyntaxKind.AmpersandAmpersandToken]: '||',
  [SyntaxKind.BarBarToken]: '&&',
  [SyntaxKind.PlusToken]: '-',
  [SyntaxKind.MinusToken]: '+',
  [SyntaxKind.AsteriskToken]: '/',
  [SyntaxKind.SlashToken]: '*',
  [SyntaxKind.PlusEqualsToken]: '-=',
  [SyntaxKind.MinusEqualsToken]: '+=',
}

function mutateBinary(node: BinaryExpression, source: SourceFile, add: Add): void {
  const operator = node.operatorToken.getText(source)
  if ((operator === '??' || operator === '||') && isRefusal(node.right, source)) {
    add(node, node.left.getText(source), 'nothing is refused')
    return
  }
  const other = swapped[node.operatorToken.kind]
  if (other === undefined || (operator === '+' && isText(node, source))) return
  if (operator !== '&&' && operator !== '||') {
    // As a whole condition it is tried as true and as false already.
    const isWhole = is.isIfStatement(node.parent) && /^[!=]==$/.test(operator)
    if (isWhole) return
    const [before, after] = [node.left.getText(source), node.right.getText(source)]
    add(node, `${before} ${other} ${after}`, `${operator} to ${other}`)
    return
  }
  const [left, right] = [node.left.getText(source), node.right.getText(source)]
  add(node, `((${left}) ${other} (${right}))`, `${operator} to ${other}`)
}

/** `x === 0`: what is equal to something else is tried by the operator. */
const isCompared = ({ parent }: Node): boolean =>
  is.isBinaryExpression(parent) &&
  (parent.operatorToken.kind === SyntaxKind.EqualsEqualsEqualsToken ||
    parent.operatorToken.kind === SyntaxKind.ExclamationEqualsEqualsToken)

const isKey = (node: Node): boolean =>
  is.isPropertyAssignment(node.parent) && node.parent.name === node

const isRefusal = (node: Node, source: SourceFile): boolean =>
  is.isCallExpression(node) && /^(refuse|no|fail|missing)\(/.test(node.getText(source))

const isText = (node: Node, source: SourceFile): boolean => /['"`]/.test(node.getText(source))

function mutateCall(node: Node, source: SourceFile, add: Add): void {
  if (!is.isCallExpression(node)) return
  const name = node.expression.getText(source)
  const rest = node.getText(source).slice(name.length)
  const swap = (by: string, change: string) => add(node, by + rest, change)
  if (name === 'Math.min') swap('Math.max', 'min to max')
  else if (name === 'Math.max') swap('Math.min', 'max to min')
  else if (name === 'min') swap('((a, b) => (a < b ? b : a))', 'min to max')
  else if (name === 'max') swap('((a, b) => (a < b ? a : b))', 'max to min')
  else if (/\.every$/.test(name)) swap(name.replace(/every$/, 'some'), 'every to some')
  else if (/\.some$/.test(name)) swap(name.replace(/some$/, 'every'), 'some to every')
  else if (name === 'and' && node.arguments.length > 1) {
    const parts = node.arguments.map((part) => part.getText(source))
    parts.forEach((part, at) => {
      const others = parts.filter((_, other) => other !== at).join(', ')
      add(node, `and(${others})`, `without ${part.replace(/\s+/g, ' ')}`)
    })
  }
}
