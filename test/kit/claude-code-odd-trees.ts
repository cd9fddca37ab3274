import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Resolution } from '../../daemon/runtimes/adapter.ts'
import { resolveClaudeCode } from '../../daemon/runtimes/claude-code/resolve/index.ts'
import { fixedNow, git } from './claude-code-tree.ts'

type Content = string | Uint8Array | { readonly link: string }
/** `<root>` in contents, links and flags stands for the folder the tree is laid in. `home/` is the home, `ws/` the usual start. */
export interface OddTree {
  readonly files: Readonly<Record<string, Content>>
  readonly cwd?: string
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Repositories to make, each with one commit. */
  readonly git?: readonly string[]
  /** Linked work trees to add afterwards: repository, place. */
  readonly worktrees?: readonly (readonly [string, string])[]
  /** Files that are read one after another, for lazy loading. */
  readonly touch?: readonly string[]
  /** Memory index of the project of `ws/`. */
  readonly memory?: string
}

const rule = (frontMatter: string, text = 'X'): string => `---\n${frontMatter}\n---\n${text}\n`

/** Texts as they lie on disk, each imported by the tree `texts`. */
export const texts: Readonly<Record<string, string>> = {
  bom: '\uFEFFBOM text\r\nsecond\r\n\r\n',
  cr: 'one\rtwo\r\nthree\n',
  fm: '---\ntitle: x\n---\nafter fm\n',
  fmcrlf: '---\r\ntitle: x\r\n---\r\nafter fm\r\n',
  fmbom: '\uFEFF---\ntitle: x\n---\nafter fm\n',
  fmbad: '---\npaths: [unclosed\n---\nafter badfm\n',
  fmlead: '\n---\ntitle: x\n---\nleading newline fm\n',
  fmempty: '---\n---\nempty fm\n',
  fmonly: '---\ntitle: x\n---\n',
  fmunclosed: '---\ntitle: x\nno end\n',
  fmspaces: '---  \ntitle: x\n---  \nspaced fm\n',
  fmend: '---\ntitle: x\n---',
  fmdots: '---\ntitle: x\n...\ndots fm\n',
  fm4: '----\ntitle: x\n----\nfour\n',
  fmindash: '---\ntitle: a---b\n---\ndash in\n',
  fmlines: '---\ntitle: x\n---\n\n\n  two blank then indented\n',
  lead: '\n\n   leading ws\n\n\ntrailing   \n\n\n',
  leadtab: '\tcode first\nx\n',
  empty: '',
  blank: ' \n\t\n',
  c1: '<!-- block -->\nafter comment\n',
  c2: 'before\n<!-- interrupts the paragraph -->\nafter\n',
  c3: 'before\n\n<!-- block\n\nmulti -->\n\nafter\n',
  c4: 'before\n\n<!-- block --> tail text\n\nafter\n',
  c5: '- item <!-- in item -->\n- <!-- item start -->\n\n  <!-- nested block -->\n',
  c6: '```\n<!-- in code -->\n```\n\n    <!-- in indented -->\n',
  c7: '  <!-- indented two -->\nx\n',
  c8: '<!-- unclosed\nmore\n\nend',
  c9: '<div>\n<!-- in div -->\nx\n</div>\n\nafter',
  c10: '<!-- a --><!-- b -->\n\nx',
  c11: '> <!-- in quote -->\n> q\n\nx',
  c12: '# H <!-- in heading -->\n<!-- after heading -->\ntext\n',
  c13: 'a\n\n<!-- one -->\n\nb\n\n\n\nc   \n',
  c14: '<!-- only -->\n',
  c15: '| a | b |\n|---|---|\n| <!-- c --> | d |\n\n<!-- x -->\nend\ttab',
  c16: 'text\ttab <!-- inl -->\n\n<!-- blk -->\n\n\ttabbed code\n\n- a\tb\n',
  c17: '<!-- a -->text right after\nmore\n\nnext',
  c18: '<!-- a\nb --> x <!-- c -->\nmore\n',
  c19: '[ref]: http://x "t"\n\n<!-- c -->\n\nsee [ref]\n  \n',
  c20: 'a\r\n\r\n<!-- crlf -->\r\n\r\nb\r\n',
  c21: '<!--> odd -->\n\nb\n',
  c22: '<!-- a --\n>\n\nb --> c\n\nd',
  c23: 'a\n<!-- x -->',
  c24: '1. a\n<!-- lazy -->\n\nb',
  c25: '<p><!-- c --></p>\n\nb',
  c26: 'para\n\n<!-- x -->\npara2\n<!-- y -->\n',
  c27: '<?php <!-- x --> ?>\n\n<!-- z -->\nb',
  c28: 'a\r\nb <!-- inline -->\r\nc',
  c29: 'a\rb\n\n<!-- x -->\n\nc\rd',
  c30: 'a\n\n<!-- x -->\n  \n\nb',
  c31: 'a\n\n<!-- x -->   \n\n\nb',
  c32: 'a\n\n<!-- x -->\n\n```\ncode\n```',
  c33: '- a\n\n<!-- x -->\n\n- b\n',
  c34: 'a\n\n<!-- x -->\n\n<!-- y -->\n\n\n\n<!-- z -->\nb',
  c35: 'a\n\n<!-- x --> <b>bold</b>\n\n\nb',
  c36: 'a\n\n<!-- x -->\n\t\nb',
  nul: 'a\0b\n',
  trail: 'a   \u00A0\n\u2003\n',
  uni: 'é\u2028x\u0085\n',
  vt: 'x\n\v\f\n',
}

/** One way of writing an import per entry; the target is `i/<name>.md` unless `importTargets` says otherwise. */
export const importCases: Readonly<Record<string, string>> = {
  plain: '@i/plain.md',
  midline: 'text @i/midline.md text',
  dotrel: '@./i/dotrel.md',
  up: '@../ws/i/up.md',
  tab: 'x\t@i/tab.md',
  quoteD: '"@i/quoteD.md"',
  quoteS: "'@i/quoteS.md'",
  colon: 'x:@i/colon.md',
  dash: '-@i/dash.md',
  star: '*@i/star.md*',
  bold: '**@i/bold.md**',
  bold2: '** @i/bold2.md **',
  under: '_@i/under.md_',
  strike: '~~@i/strike.md~~',
  h: '# @i/h.md',
  h2: '# head @i/h2.md',
  quote: '> @i/quote.md',
  li: '- @i/li.md',
  li2: '- x\n  - @i/li2.md',
  ol: '1. @i/ol.md',
  task: '- [ ] @i/task.md',
  table: '| a | b |\n|--|--|\n| @i/table.md | x |',
  lcode: '- `@i/lcode.md`',
  lfence: '- x\n  ```\n  @i/lfence.md\n  ```',
  link: '[@i/link.md](x)',
  link2: '[x](@i/link2.md)',
  link3: '[ @i/link3.md ](x)',
  img: '![@i/img.md](x)',
  auto: '<@i/auto.md>',
  html: '<b>@i/html.md</b>',
  htmlblock: '<div>\n@i/htmlblock.md\n</div>',
  htmlb2: '<div>\n\n@i/htmlb2.md\n\n</div>',
  det: '<details><summary>x</summary> @i/det.md</details>',
  inlinec: 'x <!-- @i/inlinec.md --> y',
  blockc: '<!-- @i/blockc.md -->\nx',
  aftc: '<!-- c --> @i/aftc.md',
  unclosedc: 'x <!-- @i/unclosedc.md',
  emph: '*a @i/emph.md b*',
  strong: '**a @i/strong.md b**',
  esc: '\\@i/esc.md',
  esc2: '@i\\/esc2.md',
  sp: '@i/s\\ p.md',
  sp2: '@i/s\\\\ p2.md',
  pct: '@i/p%20ct.md',
  hash: '@i/hash.md#x',
  hash2: '@i/hash2.md#',
  hashmid: '@i/ha#sh.md',
  q: '@i/q.md?x',
  comma: '@i/comma.md,',
  semi: '@i/semi.md;',
  excl: '@i/excl.md!',
  cparen: '(@i/cparen.md)',
  oparen: '( @i/oparen.md )',
  brack: '[@i/brack.md]',
  brace: '{@i/brace.md}',
  at2: '@@i/at2.md',
  email: 'a@i/email.md',
  uni: '@i/ünï.md',
  unis: '@ünï2.md',
  emoji: '@i/😀.md',
  nbsp: 'x\u00A0@i/nbsp.md',
  zs: '@i/zs\u00A0y.md',
  zero: '@1num.md',
  und: '@_und.md',
  hy: '@-hy.md',
  dot: '@.dotfile.md',
  par: '@(par.md',
  dollar: '@$d.md',
  plus: '@+p.md',
  eq: '@=e.md',
  tilde: '@~x.md',
  slash: '@/',
  twice: '@i/twice.md @i/twice2.md',
  nosp: '@i/nosp.md@i/nosp2.md',
  abs: '@<root>/ws/i/abs.md',
  dbl: '@i//dbl.md',
  trail: '@i/trail.md/',
  sym: '@i/sym.md',
  symdir: '@sd/x.md',
  case1: '@i/CASE1.md',
  dirx: '@i/dirx',
  setext: '@i/setext.md\n=====',
  defn: '[r]: @i/defn.md',
  defn2: '[r2]: http://x "@i/defn2.md"',
  hr: '***\n@i/hr.md',
  hardbr: 'a  \n@i/hardbr.md',
  bs: 'a\\\n@i/bs.md',
  cont: '- a\n@i/cont.md',
  cs: '``x ` @i/cs.md``',
  csun: '`unclosed @i/csun.md',
  tildef: '~~~\n@i/tildef.md\n~~~',
  linkTitle: '[x](y "@i/linkTitle.md")',
  reflink: '[@i/reflink.md][r9]',
  ent: '&#64;i/ent.md',
  ent2: '@i/e&amp;nt.md',
  star2: '@i/st*r.md',
  lt: '@i/lt<b.md',
  url: 'http://x/@i/url.md',
  url2: 'http://x @i/url2.md',
  www: 'www.x.com @i/www.md',
  under2: '@i/un_der_2.md',
  star3: '@i/a*b*.md',
  tildes: '@i/a~~b~~.md',
  bt: '@i/b`t`.md',
  bt2: '@i/bt2.md`x`',
  esc3: '@i/es\\_c3.md',
  esc4: '@i/es\\*c4.md',
  ls: 'x\u2028@i/ls.md',
  ff: 'x\f@i/ff.md',
  cr: 'x\r@i/cr.md',
  lspan: '- see ` @i/lspan.md ` x',
  lcom: '- see <!-- @i/lcom.md --> x',
  loose: '- a\n\n- see ` @i/loose.md ` x',
  qspan: '> see ` @i/qspan.md ` x',
  lspan2: '- see `a` @i/lspan2.md',
  llink: '- [a]( @i/llink.md )',
  lem: '- *x* @i/lem.md',
  lhtml: '- <div>\n  @i/lhtml.md\n  </div>',
  lhead: '- # h\n  @i/lhead.md',
  lnk: '@lnk.md',
  od: '@od/y.md',
  home: '@~/x.md',
  out: '@../out/o.md',
  missing: '@i/none/x.md',
}
const importTargets: Readonly<Record<string, string>> = {
  sp: 'i/s p.md',
  sp2: 'i/s\\ p2.md',
  pct: 'i/p ct.md',
  hashmid: 'i/ha#sh.md',
  uni: 'i/ünï.md',
  unis: 'ünï2.md',
  emoji: 'i/😀.md',
  zs: 'i/zs\u00A0y.md',
  zero: '1num.md',
  und: '_und.md',
  hy: '-hy.md',
  dot: '.dotfile.md',
  par: '(par.md',
  dollar: '$d.md',
  plus: '+p.md',
  eq: '=e.md',
  tilde: '~x.md',
  star2: 'i/st*r.md',
  lt: 'i/lt<b.md',
  under2: 'i/un_der_2.md',
  star3: 'i/a*b*.md',
  tildes: 'i/a~~b~~.md',
  bt: 'i/b`t`.md',
  esc3: 'i/es_c3.md',
  esc4: 'i/es*c4.md',
  ent2: 'i/e&nt.md',
  case1: 'i/case1.md',
  dirx: 'i/dirx/a.md',
  at2: '@i/at2.md',
}
const importExtras: Readonly<Record<string, Content>> = {
  'ws/i/twice2.md': 't2',
  'ws/i/nosp2.md': 'n2',
  'ws/i/ha': 'HA',
  'ws/real/x.md': 'symdir',
  'ws/i/real.md': 'REALSYM',
  'ws/i/sym.md': { link: 'real.md' },
  'ws/sd': { link: 'real' },
  'out/x.md': 'OUTX',
  'out/y.md': 'OUTY',
  'out/o.md': 'OUTO',
  'ws/lnk.md': { link: '../out/x.md' },
  'ws/od': { link: '../out' },
  'home/x.md': 'HOMEX',
}
const NO_TARGET = new Set(['slash', 'sym', 'symdir', 'lnk', 'od', 'home', 'out', 'missing'])

/** Name endings, imported or not. */
export const endings: readonly string[] = (
  'md txt text mdx markdown rst adoc asciidoc org tex latex log json jsonc json5 jsonl ndjson yaml yml toml xml csv tsv ini cfg conf config env properties html htm css scss sass less ' +
  'styl js jsx ts tsx mjs cjs mts cts vue svelte astro py pyi pyw ipynb rb erb rake go rs java kt kts scala sbt c h cc cpp cxx hpp hxx hh cs fs swift m mm php pl pm lua r R jl dart ex exs ' +
  'erl hrl hs lhs clj cljs cljc edn elm sh bash zsh fish ps1 bat cmd sql graphql gql proto tf hcl tfvars gradle groovy cmake make makefile mk dockerfile lock patch diff gitignore ' +
  'editorconfig png jpg gif svg webp pdf bin exe zip gz tar so wasm ico mp3 xyz MD Md TXT PNG nim zig sol vim el lisp rkt ml mli f f90 f95 for pas d cr nix pug jade ejs hbs mustache njk ' +
  'liquid haml slim twig jinja j2 tpl tmpl map snap plist resx po srt bib cls sty docx xlsx pem key crt pub sqlite db mdc qmd textile bzl prisma sage coffee'
).split(' ')

const importFiles = (): Record<string, Content> => {
  const files: Record<string, Content> = { ...importExtras }
  for (const [name, text] of Object.entries(importCases)) {
    files[`ws/case-${name}.md`] = `\n${text}\n`
    if (!NO_TARGET.has(name)) files[`ws/${importTargets[name] ?? `i/${name}.md`}`] = `target ${name}\n`
  }
  for (const ending of endings) files[`ws/e/f.${ending}`] = `ends in ${ending}`
  const plain = ['Makefile', '.env', '.gitignore', '.env.local', 'x.', 'a.b.c']
  for (const name of plain) files[`ws/e/${name}`] = name
  files['ws/CLAUDE.md'] = [
    'x',
    ...Object.keys(importCases).map((name) => `@case-${name}.md`),
    ...endings.map((ending) => `@e/f.${ending}`),
    ...plain.map((name) => `@e/${name}`),
  ].join('\n')
  return files
}

const ruleFiles: Readonly<Record<string, Content>> = {
  'nofm.md': 'A',
  'hid/.hidden.md': 'H',
  '.hdir/x.md': 'HD',
  'node_modules/x.md': 'NM',
  'UP.MD': 'UP',
  't.mdx': 'mdx',
  '.git/x.md': 'G',
  'starstar.md': rule('paths: "**/*"'),
  'mix.md': rule('paths: ["src/**","**"]'),
  'null.md': rule('paths:'),
  'num.md': rule('paths: 5'),
  'map.md': rule('paths: {a: b}'),
  'emptystr.md': rule('paths: ""'),
  'capP.md': rule('Paths: "src/**"'),
  'unq.md': rule('paths: **/*.ts'),
  'unqlist.md': rule('paths:\n  - **/*.ts'),
  'unq2.md': rule('description: a: b\npaths: src/**'),
  'badnopaths.md': rule('title: [unclosed'),
  'bad.md': rule('paths: [unclosed'),
  'badtab.md': rule('\tpaths: x'),
  'unqbrace.md': rule('paths: {src,lib}/**/*.ts'),
  'unqbang.md': rule('paths: !src/x.ts'),
  'dup.md': rule('paths: src/**\npaths: lib/**'),
  'badlate.md': rule('paths: src/**\ntitle: [unclosed'),
  'scalarfm.md': rule('just text'),
  'listfm.md': rule('- a'),
  'impcond.md': rule('paths: "src/**/*.ts"', 'COND @../imp-of-cond.md'),
  'implain.md': 'PLAIN @../imp-with-paths.md',
  'link-in.md': { link: '../../real-in.md' },
  'link-out.md': { link: '../../../out/real-out.md' },
  linkdir: { link: '../../rd' },
  linkdirout: { link: '../../../out/rd' },
  'dangling.md': { link: 'nowhere.md' },
  loop: { link: '..' },
  'selfloop.md': { link: 'selfloop.md' },
  'srcdir.md': rule('paths: ["src"]'),
  'srcss.md': rule('paths: ["src/**"]'),
  'abs.md': rule('paths: ["/src/app.ts"]'),
  'neg.md': rule('paths: ["src/**", "!src/app.ts"]'),
  'neg2.md': rule('paths: ["src/*.ts", "!src/app.ts"]'),
  'nested.md': rule('paths: ["app.ts"]'),
  'q.md': rule('paths: ["src/?pp.ts"]'),
  'cls.md': rule('paths: ["src/[ab]pp.ts"]'),
  'CASE.md': rule('paths: ["SRC/APP.ts"]'),
  'brace2.md': rule('paths: "src/{app,b}.{ts,js}, lib/x"'),
  'dotslash.md': rule('paths: "./src/app.ts"'),
  'hash.md': rule('paths: ["#x", "src/app.ts"]'),
  'space.md': rule('paths: ["src/app.ts "]'),
  'listcomma.md': rule('paths:\n - "lib/x, src/app.ts"'),
  'numlist.md': rule('paths: [5, "src/app.ts"]'),
  'only5.md': rule('paths: [5]'),
  'starts.md': rule('paths: ["*.ts"]'),
  'dstar.md': rule('paths: ["**/app.ts"]'),
  'absfull.md': rule('paths: ["<root>/ws/src/app.ts"]'),
  'slashss.md': rule('paths: ["src/app.ts/**"]'),
  'rootss.md': rule('paths: ["/**"]'),
  'emptycomma.md': rule('paths: " , "'),
  'block.md': rule('paths: |\n  src/**\n  lib/**'),
  'multi.md': rule('paths: >\n  src/app.ts,\n  lib/**'),
  'fmnotfirst.md': `\n${rule('paths: "src/**"')}`,
  'quotefm.md': rule("'paths': 'src/app.ts'"),
  'bomfm.md': `\uFEFF${rule('paths: src/app.ts', 'BOMX')}`,
  'crlffm.md': rule('paths: src/app.ts').replaceAll('\n', '\r\n'),
  'bracespace.md': rule('paths: "src/{app, b}.ts"'),
  'nestbrace.md': rule('paths: "{src/{app,b},lib}.ts"'),
  'anchor.md': rule('paths: [&a "src/app.ts"]'),
  'yes.md': rule('paths: yes'),
  'comment.md': rule('paths: src/app.ts # why'),
  'quotedcolon.md': rule('description: "a: b"\npaths: src/*.ts'),
  'dashes.md': rule('title: a --- b\npaths: src/app.ts'),
  'long.md': rule('a: b\n\npaths:\n\n  - src/app.ts'),
}

const inRules = (): Record<string, Content> => ({
  ...Object.fromEntries(Object.entries(ruleFiles).map(([name, content]) => [`ws/.claude/rules/${name}`, content])),
  'ws/src/app.ts': 'x',
  'ws/.claude/imp-of-cond.md': 'IMPOFCOND',
  'ws/.claude/imp-with-paths.md': rule('paths: "zzz/**"', 'IMPWITHPATHS'),
  'ws/real-in.md': 'REALIN',
  'out/real-out.md': 'REALOUT',
  'ws/rd/a.md': 'RDA',
  'out/rd/b.md': 'RDB',
  'ws/CLAUDE.md': 'C',
  'home/.claude/rules/uplain.md': 'U',
  'home/.claude/rules/ulink.md': { link: '../../../out/real-out2.md' },
  'out/real-out2.md': 'REALOUT2',
  'home/.claude/rules/ulinkdir': { link: '../../../out/rd2' },
  'out/rd2/c.md': 'RD2C',
  'home/.claude/rules/ucond.md': rule('paths: "src/**"', 'UC'),
  'home/.claude/rules/ucond2.md': rule('paths: "**/*.ts"', 'UC2'),
})

const everything: Readonly<Record<string, Content>> = {
  'ws/CLAUDE.md': 'WS',
  'add/CLAUDE.md': 'ADD',
  'home/.claude/CLAUDE.md': 'U',
  'etc/claude-code/CLAUDE.md': 'M',
  'ws/.claude/rules/r.md': 'R',
  'ws/CLAUDE.local.md': 'L',
}
const settings = (value: unknown): string => JSON.stringify(value)
const ADD_ENV = { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1' }

/** Trees that go to the edges of what the runtime does. Each was run through the real program; `test/fixtures` holds what it said. */
export const oddTrees: Readonly<Record<string, OddTree>> = {
  texts: {
    files: {
      ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [`ws/n/${name}.md`, text])),
      'ws/n/invalid.md': new Uint8Array([0x61, 0xff, 0xfe, 0x62, 0xc3, 0x28, 0x0a]),
      'ws/CLAUDE.md': ['x', ...[...Object.keys(texts), 'invalid'].map((name) => `@n/${name}.md`)].join('\n'),
    },
  },
  imports: { files: importFiles() },
  rules: { files: inRules(), touch: ['ws/src/app.ts'] },
  'start through a link': {
    files: {
      'ws/real/sub/CLAUDE.md': 'SUB @../up.md @in.md',
      'ws/real/CLAUDE.md': 'REAL',
      'ws/real/up.md': 'UP',
      'ws/real/sub/in.md': 'IN',
      'ws/lnk': { link: 'real/sub' },
      'ws/CLAUDE.md': 'WS',
    },
    cwd: 'ws/lnk',
  },
  'files linked from outside': {
    files: {
      'out/s.md': 'S @t.md',
      'out/t.md': 'T',
      'ws/CLAUDE.md': { link: '../out/s.md' },
      'ws/t.md': 'WST',
      'ws/.claude': { link: '../out/dotc' },
      'out/dotc/CLAUDE.md': 'DOTC @d.md',
      'out/dotc/d.md': 'D',
      'out/dotc/rules/r.md': 'R',
      'ws/CLAUDE.local.md': { link: '../out/s.md' },
    },
  },
  'files linked inside': {
    files: {
      'ws/CLAUDE.md': { link: 'a.md' },
      'ws/a.md': 'A @b/c.md',
      'ws/b/c.md': { link: '../d/e.md' },
      'ws/d/e.md': 'E @f.md',
      'ws/d/f.md': 'F',
      'ws/b/f.md': 'BF',
      'ws/.claude/CLAUDE.md': { link: '../a.md' },
      'ws/CLAUDE.local.md': 'L @a.md @d/e.md',
    },
  },
  'linked user configuration': {
    files: {
      'home/.claude': { link: '../dots/claude' },
      'dots/claude/CLAUDE.md': 'U @u.md',
      'dots/claude/u.md': 'UI',
      'dots/claude/rules/r.md': 'R',
      'dots/claude/rules/p.md': rule('paths: "*.txt"', 'P'),
      'ws/CLAUDE.md': 'WS',
      'ws/a.txt': 'x',
    },
    touch: ['ws/a.txt'],
  },
  'shared rules of a team': {
    files: {
      'shared/one.md': 'ONE',
      'shared/two.md': rule('paths: "src/**"', 'TWO'),
      'ws/.claude/rules/team': { link: '../../../shared' },
      'home/.claude/rules/team': { link: '../../../shared2' },
      'shared2/u.md': 'UTEAM',
      'ws/.claude/rules/gone.md': { link: 'nowhere' },
      'ws/.claude/rules/circle': { link: '.' },
      'ws/CLAUDE.md': 'C @h1.md @missing.md\n\n```\n@fence.md\n```',
      'ws/h1.md': 'H1 @h2.md',
      'ws/h2.md': 'H2 @h3.md',
      'ws/h3.md': 'H3 @h4.md',
      'ws/h4.md': 'H4 @h5.md',
      'ws/h5.md': 'H5 @h6.md',
      'ws/h6.md': 'H6',
      'ws/fence.md': 'FENCE',
      'ws/src/a.ts': 'x',
    },
    touch: ['ws/src/a.ts'],
  },
  'shared rules, approved': {
    files: {
      'shared/one.md': 'ONE',
      'shared/two.md': rule('paths: "src/**"', 'TWO'),
      'ws/.claude/rules/team': { link: '../../../shared' },
      'ws/CLAUDE.md': 'C @../o.md',
      'o.md': 'O',
      'ws/src/a.ts': 'x',
      'ws/src/CLAUDE.md': 'S @../../o2.md',
      'o2.md': 'O2',
      'home/.claude.json': settings({ projects: { '<root>/ws': { hasClaudeMdExternalIncludesApproved: true } } }),
    },
    touch: ['ws/src/a.ts'],
  },
  'a directory in the place of a file': {
    files: {
      'ws/CLAUDE.md/x.md': 'dir',
      'ws/.claude/CLAUDE.md': 'D',
      'ws/claude.md': 'lower',
      'ws/.claude/rules.md': 'x',
    },
  },
  sizes: {
    files: {
      'ws/CLAUDE.md': 'x @big.md @toobig.md @limit.md',
      'ws/big.md': 'b'.repeat(100_000),
      'ws/toobig.md': 'c'.repeat(4 * 1024 * 1024 + 1),
      'ws/.claude/CLAUDE.md': ' \n',
      'ws/limit.md': 'l',
    },
  },
  'order of lazy files': {
    files: {
      'home/.claude/rules/u.md': rule('paths: "**/*.txt"', 'U'),
      'ws/.claude/rules/p.md': rule('paths: "**/*.txt"', 'P'),
      '.claude/rules/anc.md': rule('paths: "**/*.txt"', 'ANC'),
      'ws/pkg/CLAUDE.md': 'PKG @../../out.md @in.md',
      'ws/pkg/in.md': 'IN',
      'out.md': 'OUT',
      'ws/pkg/.claude/rules/c.md': rule('paths: "*.txt"', 'C @../imp.md'),
      'ws/pkg/.claude/imp.md': 'IMP',
      'ws/pkg/CLAUDE.local.md': 'LOC',
      'ws/pkg/.claude/CLAUDE.md': 'PKGDOT',
      'ws/pkg/a.txt': 'x',
      'ws/pkg/d/e/a.txt': 'y',
      'ws/pkg/d/CLAUDE.md': 'D',
      'ws/pkg/d/e/.claude/rules/x/y.md': 'Y',
      'ws/node_modules/m/CLAUDE.md': 'NM',
      'ws/node_modules/m/a.txt': 'x',
      'ws/CLAUDE.md': 'WS',
    },
    touch: ['ws/pkg/a.txt', 'ws/pkg/d/e/a.txt', 'ws/node_modules/m/a.txt', 'ws/pkg/a.txt'],
  },
  'added directory': {
    files: {
      'add/CLAUDE.md': 'ADD @in.md @../o.md',
      'add/in.md': 'IN',
      'o.md': 'O',
      'add/.claude/CLAUDE.md': 'ADDDOT',
      'add/.claude/rules/r.md': 'R',
      'add/.claude/rules/rc.md': rule('paths: "*.txt"', 'RC'),
      'add/CLAUDE.local.md': 'ADDLOC',
      'add/AGENTS.md': 'ADDAG',
      'ws/CLAUDE.md': 'WS',
      'add/sub/CLAUDE.md': 'ADDSUB',
      'add/sub/a.txt': 'x',
      'add/a.txt': 'z',
      'CLAUDE.md': 'TOP',
    },
    flags: ['--add-dir', '<root>/add'],
    env: ADD_ENV,
    touch: ['add/a.txt', 'add/sub/a.txt'],
  },
  'added directory, switch off': { files: everything, flags: ['--add-dir', '<root>/add'] },
  'local file imports a rule bound to paths': {
    files: {
      'ws/CLAUDE.md': 'WS',
      'ws/.claude/rules/p.md': rule('paths: "*.txt"'),
      'ws/a.txt': 'x',
      'ws/CLAUDE.local.md': 'LOC @.claude/rules/p.md',
    },
    touch: ['ws/a.txt'],
  },
  'work tree inside its main checkout': {
    files: {
      'ws/CLAUDE.md': 'WS',
      'ws/CLAUDE.local.md': 'WSL',
      'ws/.claude/CLAUDE.local.md': 'DOTL',
      'ws/.claude/rules/r.md': 'R',
      'ws/.gitignore': 'CLAUDE.local.md\n',
      'CLAUDE.md': 'TOP',
      'ws/.claude/CLAUDE.md': 'DOT',
    },
    git: ['ws'],
    worktrees: [['ws', '.claude/worktrees/x']],
    cwd: 'ws/.claude/worktrees/x',
  },
  'AGENTS.md alone': {
    files: {
      'ws/AGENTS.md': 'AG @i.md',
      'ws/i.md': 'I',
      'ws/CLAUDE.md': '  \n',
      'ws/sub/AGENTS.md': 'SUBAG',
      'ws/.claude/rules/r.md': 'R',
      'ws/CLAUDE.local.md': '<!-- only comment -->',
      'AGENTS.md': 'TOPAG',
      '.claude/rules/t.md': 'TOPR',
    },
  },
  'AGENTS.md and an excluded CLAUDE.md': {
    files: {
      'ws/AGENTS.md': 'AG',
      'ws/CLAUDE.md': 'X',
      'home/.claude/settings.json': settings({ claudeMdExcludes: ['**/CLAUDE.md'] }),
    },
  },
  'AGENTS.md excluded': {
    files: { 'ws/AGENTS.md': 'AG', 'home/.claude/settings.json': settings({ claudeMdExcludes: ['**/AGENTS.md'] }) },
  },
  'AGENTS.md, project sources only': { files: { 'ws/AGENTS.md': 'AG' }, flags: ['--setting-sources', 'project'] },
  'AGENTS.md, local sources only': { files: { 'ws/AGENTS.md': 'AG' }, flags: ['--setting-sources', 'local'] },
  'AGENTS.md and a local file that is left out': {
    files: { 'ws/AGENTS.md': 'AG', 'CLAUDE.local.md': 'L', 'ws/.claude/rules/r.md': 'R' },
    flags: ['--setting-sources', 'user,project'],
  },
  'AGENTS.md switched off by the project': {
    files: {
      'ws/AGENTS.md': 'AG',
      'ws/.claude/settings.json': settings({ enabledPlugins: { 'cc-plugin-agents-md@builtin': false } }),
    },
  },
  'AGENTS.md twice by link': {
    files: {
      'ws/AGENTS.md': '---\na: b\n---\nAG <!-- x -->\n\n<!-- y -->\n',
      'ws/.claude/AGENTS.md': { link: '../AGENTS.md' },
    },
  },
  'AGENTS.md and an added CLAUDE.md': {
    files: { 'add/CLAUDE.md': 'ADD', 'ws/AGENTS.md': 'AG' },
    flags: ['--add-dir', '<root>/add'],
    env: ADD_ENV,
  },
  'AGENTS.md at several depths and an added directory': {
    files: {
      'add/CLAUDE.md': 'ADD',
      'add/AGENTS.md': 'ADDAG',
      'ws/.claude/rules/r.md': 'R',
      'ws/AGENTS.md': 'AG',
      'ws/.claude/AGENTS.md': 'DOTAG',
      'AGENTS.md': 'TOP',
    },
    flags: ['--add-dir', '<root>/add'],
    env: ADD_ENV,
    memory: 'MEM',
  },
  'CLAUDE.md that is a link to AGENTS.md': { files: { 'ws/AGENTS.md': 'AG', 'ws/CLAUDE.md': { link: 'AGENTS.md' } } },
  'CLAUDE.md that imports AGENTS.md': { files: { 'ws/AGENTS.md': 'AG', 'ws/CLAUDE.md': '@AGENTS.md' } },
  managed: {
    files: {
      'ws/CLAUDE.md': 'WS',
      'home/.claude/CLAUDE.md': 'U',
      'etc/claude-code/managed-settings.json': settings({
        claudeMd: '  MS <!-- x -->\n\n<!-- y -->\r\nz @a.md  ',
        claudeMdExcludes: ['**/home/.claude/CLAUDE.md'],
      }),
      'etc/claude-code/CLAUDE.md': 'M @near.md @<root>/ws/a.md',
      'etc/claude-code/near.md': 'NEAR',
      'ws/a.md': 'A',
      'etc/claude-code/.claude/CLAUDE.md': 'MDOT',
      'etc/claude-code/rules/r.md': 'MR',
      'etc/claude-code/.claude/rules/x.md': rule('paths: "*.txt"', 'MX'),
      'etc/claude-code/.claude/rules/y.md': 'MY',
      'ws/a.txt': 'x',
      'ws/.claude/rules/p.md': rule('paths: "*.txt"', 'PX'),
      'home/.claude/rules/u.md': rule('paths: "*.txt"', 'UX'),
    },
    touch: ['ws/a.txt'],
  },
  'managed text twice': {
    files: {
      'ws/CLAUDE.md': 'WS',
      'etc/claude-code/managed-settings.json': settings({ claudeMd: 'first' }),
      'etc/claude-code/managed-settings.d/1.json': settings({ claudeMd: 'second' }),
    },
  },
  'managed with --restricted': { files: everything, flags: ['--restricted'] },
  'managed with --setting-sources ""': { files: everything, flags: ['--setting-sources', ''] },
  '--safe-mode': { files: everything, flags: ['--safe-mode'] },
  '--bare with an added directory': { files: everything, flags: ['--bare', '--add-dir', '<root>/add'] },
  'all instruction files off by environment': { files: everything, env: { CLAUDE_CODE_DISABLE_CLAUDE_MDS: 'true' } },
  'the switch set to 0': { files: everything, env: { CLAUDE_CODE_DISABLE_CLAUDE_MDS: '0' } },
  'all instruction files off by settings': {
    files: { ...everything, 'home/.claude/settings.json': settings({ env: { CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1' } }) },
  },
  'memory of 230 lines': {
    files: { 'ws/x': 'x' },
    memory: Array.from({ length: 230 }, (_, n) => `- line ${n}`).join('\n'),
  },
  'memory of one long line': { files: { 'ws/x': 'x' }, memory: `<!-- c -->\n${'y'.repeat(30_000)}` },
  'memory cut between lines': {
    files: { 'ws/x': 'x', 'ws/m.md': 'M' },
    memory: `---\na: b\n---\n@m.md\n${Array.from({ length: 190 }, () => 'é'.repeat(150)).join('\n')}\n`,
  },
  'memory off by setting': {
    files: { 'ws/CLAUDE.md': 'WS', 'home/.claude/settings.json': settings({ autoMemoryEnabled: false }) },
    memory: 'MEM',
  },
  'memory off by environment': {
    files: { 'ws/CLAUDE.md': 'WS' },
    memory: 'MEM',
    env: { CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' },
  },
  'names with spaces and letters of all kinds': {
    files: {
      'ws/a b (c)/ünï 😀/CLAUDE.md': 'ODD @x\\ y.md',
      'ws/a b (c)/ünï 😀/x y.md': 'XY',
      'ws/a b (c)/CLAUDE.md': 'UP',
      'ws/a b (c)/ünï 😀/.claude/rules/-r é.md': 'R',
    },
    cwd: 'ws/a b (c)/ünï 😀',
  },
  'excludes of several kinds': {
    files: {
      'real/ws/CLAUDE.md': 'C @a.md',
      'real/ws/a.md': 'A',
      'real/ws/.claude/rules/one.md': 'ONE',
      'real/ws/.claude/rules/two.md': 'TWO',
      'real/ws/.claude/CLAUDE.md': 'DOT',
      'real/ws/CLAUDE.local.md': 'L',
      alias: { link: 'real' },
      'home/.claude/settings.json': settings({
        claudeMdExcludes: ['<root>/alias/ws/CLAUDE.md', '**/one.md', 'CLAUDE.local.md', '!**/two.md'],
      }),
    },
    cwd: 'real/ws',
  },
  'user files import from anywhere': {
    files: {
      'home/.claude/CLAUDE.md': 'U @<root>/out/a.md @~/h.md @../../out/b.md',
      'out/a.md': 'OA @b.md',
      'out/b.md': 'OB',
      'home/h.md': 'H',
      'home/.claude/rules/r.md': 'R @<root>/out/c.md',
      'out/c.md': 'OC',
      'ws/CLAUDE.md': 'WS @<root>/out/d.md',
      'out/d.md': 'OD',
    },
  },
  'home is the start directory': {
    files: {
      'home/CLAUDE.md': 'HOME',
      'home/.claude/CLAUDE.md': 'U',
      'home/.claude/rules/r.md': 'R',
      'home/CLAUDE.local.md': 'L',
      'home/.claude/CLAUDE.local.md': 'UL',
    },
    cwd: 'home',
  },
  'the configuration is the start directory': {
    files: {
      'home/.claude/CLAUDE.md': 'U',
      'home/.claude/rules/r.md': 'R',
      'home/.claude/CLAUDE.local.md': 'UL',
      'home/.claude/.claude/CLAUDE.md': 'UU',
    },
    cwd: 'home/.claude',
  },
}

export interface LaidOddTree {
  readonly root: string
  readonly home: string
  readonly cwd: string
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly managedDir: string | null
  readonly touch: readonly string[]
  readonly remove: () => void
}

export function layOddTree(tree: OddTree): LaidOddTree {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'reprise-odd-')))
  const fill = (text: string): string => text.replaceAll('<root>', root)
  const files: Record<string, Content> = { ...tree.files }
  if (tree.memory !== undefined) {
    files[`home/.claude/projects/${path.join(root, 'ws').replace(/[^A-Za-z0-9]/g, '-')}/memory/MEMORY.md`] = tree.memory
  }
  // Links first where they stand for folders that other entries lie in.
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name)
    mkdirSync(path.dirname(file), { recursive: true })
    if (typeof content === 'string') writeFileSync(file, fill(content))
    else if (content instanceof Uint8Array) writeFileSync(file, content)
    else {
      if (content.link.startsWith('../dots')) mkdirSync(path.join(root, 'dots/claude'), { recursive: true })
      symlinkSync(fill(content.link), file)
    }
  }
  mkdirSync(path.join(root, 'home'), { recursive: true })
  for (const repository of tree.git ?? []) {
    const at = path.join(root, repository)
    git(at, 'init', '-q', '-b', 'main', '.')
    git(at, 'add', '-A')
    git(at, 'commit', '-qm', 'initial')
  }
  for (const [repository, place] of tree.worktrees ?? [])
    git(path.join(root, repository), 'worktree', 'add', '-q', place, '-b', 'side')
  return {
    root,
    home: path.join(root, 'home'),
    cwd: path.join(root, tree.cwd ?? 'ws'),
    flags: (tree.flags ?? []).map(fill),
    env: tree.env ?? {},
    managedDir: Object.keys(tree.files).some((name) => name.startsWith('etc/claude-code/'))
      ? path.join(root, 'etc/claude-code')
      : null,
    touch: (tree.touch ?? []).map((file) => path.join(root, file)),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

export function resolveOddTree(laid: LaidOddTree): Resolution {
  return resolveClaudeCode({
    home: path.join(laid.home, '.claude'),
    cwd: laid.cwd,
    flags: laid.flags,
    version: '2.1.332',
    surroundings: {
      platform: 'linux',
      userHome: laid.home,
      env: { PATH: '/usr/bin:/bin', HOME: laid.home, ...laid.env },
      systemRoot: laid.managedDir === null ? path.join(laid.root, 'no-managed-files') : laid.root,
      now: fixedNow,
    },
  })
}
