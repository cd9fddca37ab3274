import fs from 'node:fs'
import { asPath } from './bytes.ts'

/** What Linux says of a file system (`statfs`, `f_type`). */
const PSEUDO = new Map([
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
  [0x27e0eb, 'cgroup'],
  [0x63677270, 'cgroup2'],
  [0x1cd1, 'devpts'],
  [0x64626720, 'debugfs'],
  [0x74726163, 'tracefs'],
  [0x73636673, 'securityfs'],
  [0xcafe4a11, 'bpf'],
  [0x62656570, 'configfs'],
  [0x6165676c, 'pstore'],
  [0x19800202, 'mqueue'],
  [0x65735543, 'fusectl'],
  [0x42494e4d, 'binfmt_misc'],
  [0x6e736673, 'nsfs'],
  [0xf97cff8c, 'selinuxfs'],
  [0xde5e81e4, 'efivarfs'],
])
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x73757245, 'Coda'],
])
/** Where a folder's times are known to move with each name that comes or goes. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1])

export interface FileSystem {
  readonly kind: 'local' | 'network' | 'pseudo' | 'other'
  readonly name: string
}

export function fileSystemOf(path: string): FileSystem {
  if (process.platform !== 'linux') return { kind: process.platform === 'darwin' ? 'local' : 'other', name: '' }
  try {
    const type = fs.statfsSync(asPath(path)).type >>> 0
    const pseudo = PSEUDO.get(type)
    if (pseudo !== undefined) return { kind: 'pseudo', name: pseudo }
    const network = NETWORK.get(type)
    if (network !== undefined) return { kind: 'network', name: network }
    return { kind: LOCAL.has(type) ? 'local' : 'other', name: type.toString(16) }
  } catch {
    return { kind: 'other', name: '' }
  }
}
