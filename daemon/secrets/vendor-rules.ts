/**
 * Keys that are recognised by their own form, wherever they stand. `anchors` are literal beginnings: one pass over the text looks for
 * all of them at once, and only where one is found the rest is compared. Forms as published by the issuers.
 *
 * No rule judges how random a key looks: a made-up key of the right form is covered as well.
 */
export interface VendorRule {
  readonly family: string
  /** Three characters or more each. */
  readonly anchors: readonly string[]
  /** What follows the anchor, as regular expression source. */
  readonly rest: string
  /** The character before must not belong to a longer word. For anchors that could stand inside other text. */
  readonly bounded?: true
  /** The anchor is a name, not a part of the secret. */
  readonly named?: true
  /** What stands directly before the anchor and belongs to the secret. */
  readonly before?: RegExp
  readonly check?: (match: string) => boolean
}

const WORD = '[A-Za-z0-9_-]'
const hasDigit = (match: string) => /\d/.test(match)

export const vendorRules: readonly VendorRule[] = [
  { family: 'anthropic', anchors: ['sk-ant-'], rest: `${WORD}{12,}` },
  { family: 'openrouter', anchors: ['sk-or-'], rest: `${WORD}{16,}` },
  {
    family: 'openai',
    anchors: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-service-', 'sk-None-'],
    rest: `${WORD}{16,}`,
  },
  // Also DeepSeek, Langfuse, Moonshot and others that copied the form. A class name (`sk-folding-cube`) has no run this long.
  {
    family: 'openai',
    anchors: ['sk-'],
    rest: `(?:[a-z0-9]{2,8}-)?[A-Za-z0-9_]{18,}${WORD}*`,
    bounded: true,
    check: hasDigit,
  },
  {
    family: 'github',
    anchors: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    // Of 36 letters and digits, and the longer ones with dots; what is glued to the first (`-old.txt`) is no part of it.
    rest: '(?:[A-Za-z0-9]{36}(?![A-Za-z0-9])|[A-Za-z0-9_.-]{30,})',
  },
  { family: 'github', anchors: ['github_pat_'], rest: '[A-Za-z0-9_]{20,}' },
  {
    family: 'gitlab',
    anchors: [
      'glpat-',
      'gldt-',
      'glrt-',
      'glptt-',
      'glcbt-',
      'glft-',
      'glsoat-',
      'glimt-',
      'glagent-',
      'gloas-',
      'glffct-',
    ],
    rest: '[A-Za-z0-9_.-]{16,}',
  },
  {
    family: 'aws-key-id',
    anchors: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    rest: '[A-Z0-9]{16}(?![A-Za-z0-9])',
    bounded: true,
  },
  { family: 'aws-bedrock', anchors: ['ABSK', 'bedrock-api-key-'], rest: '[A-Za-z0-9+/=]{60,}', bounded: true },
  {
    family: 'slack',
    anchors: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxo-', 'xoxe-', 'xoxe.', 'xoxc-', 'xoxd-', 'xapp-'],
    rest: '[A-Za-z0-9._%-]{10,}',
  },
  {
    family: 'slack-webhook',
    anchors: ['hooks.slack.com/', 'hooks.slack.com\\/'],
    rest: '(?:services|workflows|triggers)(?:\\\\{0,4}\\/[A-Za-z0-9_-]{4,}){2,5}',
  },
  {
    family: 'discord-webhook',
    anchors: ['discord.com/api/', 'discordapp.com/api/'],
    rest: '(?:v\\d+/)?webhooks/\\d+/[A-Za-z0-9_-]{20,}',
  },
  { family: 'teams-webhook', anchors: ['webhook.office.com/webhookb2/'], rest: '[A-Za-z0-9@/-]{40,}' },
  {
    family: 'telegram',
    anchors: [':AA'],
    rest: '[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])',
    before: /(?<![0-9])[0-9]{8,10}$/,
  },
  { family: 'google', anchors: ['AIza'], rest: '[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])', bounded: true },
  { family: 'google', anchors: ['ya29.'], rest: '[A-Za-z0-9_.-]{20,}', bounded: true },
  { family: 'google', anchors: ['GOCSPX-'], rest: '[A-Za-z0-9_-]{20,}' },
  { family: 'google', anchors: ['1//0'], rest: '[A-Za-z0-9_-]{40,}', bounded: true },
  {
    family: 'jwt',
    anchors: ['eyJ'],
    rest: '[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*)?',
    bounded: true,
  },
  {
    family: 'jwe',
    anchors: ['eyJ'],
    rest: '[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
    bounded: true,
  },
  { family: 'npm', anchors: ['npm_'], rest: '[A-Za-z0-9]{30,}', bounded: true },
  { family: 'pypi', anchors: ['pypi-'], rest: '[A-Za-z0-9_-]{50,}' },
  { family: 'hugging-face', anchors: ['hf_', 'api_org_'], rest: '[A-Za-z0-9]{30,}', bounded: true },
  { family: 'sendgrid', anchors: ['SG.'], rest: '[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}', bounded: true },
  { family: 'stripe', anchors: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'sk_org_'], rest: '[A-Za-z0-9_]{10,}' },
  { family: 'stripe', anchors: ['whsec_'], rest: '[A-Za-z0-9+/=]{24,}' },
  { family: 'digitalocean', anchors: ['dop_v1_', 'doo_v1_', 'dor_v1_'], rest: '[a-f0-9]{40,}' },
  { family: 'shopify', anchors: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], rest: '[a-fA-F0-9]{32,}' },
  { family: 'linear', anchors: ['lin_api_', 'lin_oauth_'], rest: '[A-Za-z0-9]{32,}' },
  { family: 'notion', anchors: ['ntn_'], rest: '[A-Za-z0-9]{40,}', bounded: true },
  { family: 'docker', anchors: ['dckr_pat_', 'dckr_oat_'], rest: '[A-Za-z0-9_-]{20,}' },
  { family: 'databricks', anchors: ['dapi'], rest: '[a-f0-9]{32}(?:-\\d)?', bounded: true },
  { family: 'groq', anchors: ['gsk_'], rest: '[A-Za-z0-9]{40,}', bounded: true },
  { family: 'replicate', anchors: ['r8_'], rest: '[A-Za-z0-9]{30,}', bounded: true },
  { family: 'perplexity', anchors: ['pplx-'], rest: '[A-Za-z0-9]{32,}' },
  { family: 'xai', anchors: ['xai-'], rest: '[A-Za-z0-9_-]{40,}', bounded: true },
  { family: 'fireworks', anchors: ['fw_'], rest: '[A-Za-z0-9]{22,}(?![A-Za-z0-9_])', bounded: true, check: hasDigit },
  { family: 'tavily', anchors: ['tvly-'], rest: '[A-Za-z0-9_-]{20,}' },
  { family: 'pinecone', anchors: ['pcsk_'], rest: '[A-Za-z0-9_]{40,}' },
  { family: 'langsmith', anchors: ['lsv2_pt_', 'lsv2_sk_'], rest: '[A-Za-z0-9_]{32,}' },
  { family: 'e2b', anchors: ['e2b_'], rest: '[a-f0-9]{32,}', bounded: true },
  { family: 'cloudflare', anchors: ['v1.0-'], rest: '[a-f0-9]{24}-[a-f0-9]{146}', bounded: true },
  { family: 'supabase', anchors: ['sbp_', 'sb_secret_'], rest: '[A-Za-z0-9_-]{20,}', bounded: true },
  { family: 'planetscale', anchors: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], rest: '[A-Za-z0-9_.=-]{30,}' },
  {
    family: 'doppler',
    anchors: ['dp.pt.', 'dp.st.', 'dp.sa.', 'dp.ct.', 'dp.scim.', 'dp.audit.'],
    rest: '[A-Za-z0-9_.-]{32,}',
    bounded: true,
  },
  { family: '1password', anchors: ['ops_eyJ'], rest: '[A-Za-z0-9+/=_-]{40,}' },
  { family: 'hashicorp', anchors: ['hvs.', 'hvb.', 'hvr.'], rest: '[A-Za-z0-9_-]{24,}', bounded: true },
  { family: 'terraform', anchors: ['.atlasv1.'], rest: '[A-Za-z0-9_=-]{60,}', before: /[A-Za-z0-9]{14}$/ },
  { family: 'tailscale', anchors: ['tskey-'], rest: '[A-Za-z0-9-]{20,}' },
  { family: 'grafana', anchors: ['glsa_', 'glc_'], rest: '[A-Za-z0-9_=+/]{32,}', bounded: true },
  { family: 'sentry', anchors: ['sntrys_', 'sntryu_'], rest: '[A-Za-z0-9_=+/-]{40,}' },
  { family: 'newrelic', anchors: ['NRAK-', 'NRJS-', 'NRII-', 'NRSP-'], rest: '[A-Za-z0-9_-]{20,}' },
  { family: 'postman', anchors: ['PMAK-'], rest: '[a-f0-9]{24}-[a-f0-9]{34}' },
  { family: 'figma', anchors: ['figd_', 'figp_'], rest: '[A-Za-z0-9_-]{32,}', bounded: true },
  { family: 'atlassian', anchors: ['ATATT3x', 'ATCTT3x', 'ATBB'], rest: '[A-Za-z0-9_=.-]{28,}', bounded: true },
  { family: 'rubygems', anchors: ['rubygems_'], rest: '[a-f0-9]{40,}' },
  { family: 'heroku', anchors: ['HRKU-'], rest: '[A-Za-z0-9_-]{30,}' },
  { family: 'netlify', anchors: ['nfp_', 'nfc_'], rest: '[A-Za-z0-9_]{36,}', bounded: true },
  { family: 'fly', anchors: ['fo1_', 'FlyV1 '], rest: '[A-Za-z0-9_+/=,-]{40,}' },
  { family: 'mailgun', anchors: ['key-'], rest: '[0-9a-f]{32}(?![A-Za-z0-9])', bounded: true },
  {
    family: 'square',
    anchors: ['sq0csp-', 'sq0atp-', 'EAAAl', 'EAAAE'],
    rest: '[A-Za-z0-9_-]{22,}',
    bounded: true,
    check: hasDigit,
  },
  { family: 'facebook', anchors: ['EAACEdEose0cBA', 'EAAG', 'EAAB'], rest: '[A-Za-z0-9]{60,}', bounded: true },
  { family: 'dynatrace', anchors: ['dt0c01.', 'dt0s01.'], rest: '[A-Z0-9]{24}\\.[A-Z0-9]{64}' },
  { family: 'vercel', anchors: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], rest: '[A-Za-z0-9]{24,}', bounded: true },
  {
    family: 'azure',
    anchors: ['AccountKey=', 'SharedAccessKey=', 'accountkey='],
    rest: '[A-Za-z0-9+/]{40,}={0,2}',
    named: true,
  },
  { family: 'azure', anchors: ['sig='], rest: '[A-Za-z0-9%+/]{40,}={0,2}', bounded: true, named: true },
  { family: 'azure', anchors: ['8Q~', '7Q~'], rest: '[A-Za-z0-9_~.-]{31,34}', before: /[A-Za-z0-9_~.]{3}$/ },
  { family: 'age', anchors: ['AGE-SECRET-KEY-1'], rest: '[0-9A-Za-z]{40,}' },
  {
    family: 'authorization',
    anchors: ['Bearer ', 'bearer '],
    named: true,
    rest: '[A-Za-z0-9._~+/-]{16,}=*',
    check: hasDigit,
  },
]

export const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
