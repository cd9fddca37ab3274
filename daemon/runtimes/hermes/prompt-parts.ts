/** Parts of a stored system prompt that come from the user's own files (runtime page 5.1). */
export interface PromptParts {
  /** Everything before the first part below but the skills index: identity and guidance of the program. */
  readonly head: string
  /** The skills index with its marks; null when there is none. */
  readonly skillsIndex: string | null
  /** Lines of the workspace snapshot without its heading; null when there is none. */
  readonly workspace: string | null
  readonly project: readonly ProjectSection[]
  readonly memory: string | null
  readonly user: string | null
  readonly skills: readonly { readonly name: string; readonly description: string | null; readonly category: string }[]
  /** The last lines: start date, model, provider, platform. */
  readonly started: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly platform: string | null
}

export interface ProjectSection {
  /** As shown behind the heading mark. */
  readonly label: string
  /** The section as it entered, its heading included. */
  readonly text: string
}

const PROJECT = '\n\n# Project Context\n\n'
const BAR = '═'.repeat(46)
const SKILLS = /<available_skills>\n([\s\S]*?)\n<\/available_skills>/
const MEMORY_HEAD = /^(MEMORY|USER PROFILE) \([^\n]*\) \[[^\n]*\]$/
const LABEL =
  /^## ((?:[^\n]*\/)?(?:\.hermes\.md|HERMES\.md|AGENTS\.md|AGENTS\.override\.md|agents\.md|CLAUDE\.md|claude\.md|\.cursorrules|[^\n/]+\.mdc))\n\n/gm

/** Takes a prompt apart at the marks of 0.20.0. A prompt of another form keeps everything in `head`. */
export function readPromptParts(prompt: string): PromptParts {
  const started = /\n\n(Conversation started: [^\n]+(?:\n[A-Z][a-z]+: [^\n]*)*)\s*$/.exec(prompt)
  let rest = started === null ? prompt : prompt.slice(0, started.index)
  const memory = takeMemory(rest, 'USER PROFILE')
  rest = memory.before
  const notes = takeMemory(rest, 'MEMORY')
  rest = notes.before
  const at = rest.indexOf(PROJECT)
  const project = at === -1 ? [] : readSections(rest.slice(at + PROJECT.length))
  if (at !== -1) rest = rest.slice(0, at)
  const workspace = /\n\nWorkspace \([^\n]*\):\n((?:- [^\n]*\n?)+)/.exec(rest)
  const lines = new Map(
    (started?.[1] ?? '').split('\n').map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)] as const
    }),
  )
  const head = workspace === null ? rest : rest.slice(0, workspace.index)
  const index = SKILLS.exec(head)
  return {
    head: index === null ? head : head.slice(0, index.index) + head.slice(index.index + index[0].length),
    skillsIndex: index?.[0] ?? null,
    workspace: workspace?.[1]?.trimEnd() ?? null,
    project,
    memory: notes.block,
    user: memory.block,
    skills: readSkills(index?.[1] ?? ''),
    started: lines.get('Conversation started') ?? null,
    model: lines.get('Model') ?? null,
    provider: lines.get('Provider') ?? null,
    platform: lines.get('Platform') ?? null,
  }
}

/** The last block of that name, from its bar on; an entry of the memory may quote a bar, so the search runs from behind. */
function takeMemory(
  text: string,
  name: 'MEMORY' | 'USER PROFILE',
): { readonly before: string; readonly block: string | null } {
  for (
    let at = text.lastIndexOf(`\n\n${BAR}\n`);
    at !== -1;
    at = at === 0 ? -1 : text.lastIndexOf(`\n\n${BAR}\n`, at - 1)
  ) {
    const block = text.slice(at + 2)
    const lines = block.split('\n', 3)
    const head = MEMORY_HEAD.exec(lines[1] ?? '')
    if (head?.[1] === name && lines[2] === BAR) return { before: text.slice(0, at), block: block.trimEnd() }
  }
  return { before: text, block: null }
}

/** A heading in a file's own text looks the same unless it names a context file; then it is taken for one. */
function readSections(text: string): readonly ProjectSection[] {
  const found = [...text.matchAll(LABEL)]
  return found.map((match, at) => ({
    label: match[1] ?? '',
    text: text.slice(match.index, found[at + 1]?.index ?? text.length).trimEnd(),
  }))
}

function readSkills(block: string): PromptParts['skills'] {
  const skills: { name: string; description: string | null; category: string }[] = []
  let category = ''
  for (const line of block.split('\n')) {
    const skill = /^ {4}- ([^:\n]+)(?:: (.*))?$/.exec(line)
    const group = /^ {2}([^\s:][^:\n]*):/.exec(line)
    if (skill?.[1] !== undefined) skills.push({ name: skill[1], description: skill[2] ?? null, category })
    else if (group?.[1] !== undefined) category = group[1]
  }
  return skills
}
