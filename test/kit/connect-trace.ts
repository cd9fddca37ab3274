import { execFileSync } from 'node:child_process'
import fs from 'node:fs'

/** Words before a command that write every connection of it and its children to a file. */
export function traceConnections(file: string): string[] {
  const strace = ['/usr/bin/strace', '/usr/local/bin/strace'].find((each) => fs.existsSync(each))
  if (strace === undefined) throw new Error('strace is missing; make it ready with: node scripts/setup-system.mjs')
  return [strace, '-f', '-qq', '--seccomp-bpf', '-e', 'trace=connect,sendto,sendmsg', '-e', 'signal=none', '-o', file]
}

export interface Connections {
  /** Calls that name an address at all; 0 means that the trace itself did not work. */
  readonly addressed: number
  readonly local: number
  /** Addresses outside this machine, as the trace wrote them. */
  readonly outside: readonly string[]
}

/** Sorts the addresses of a trace. Kernel messages (netlink) and sockets without a name stay inside by their nature. */
export function readConnections(file: string): Connections {
  let local = 0
  const outside: string[] = []
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    const family = /sa_family=(AF_\w+)/.exec(line)?.[1]
    if (family === undefined) continue
    if (family === 'AF_UNIX' || family === 'AF_NETLINK' || family === 'AF_UNSPEC' || isLoopback(line)) local += 1
    else outside.push(line.trim())
  }
  return { addressed: local + outside.length, local, outside }
}

const isLoopback = (line: string) =>
  /inet_addr\("127\.[\d.]+"\)|inet_pton\(AF_INET6, "(::1|::ffff:127\.[\d.]+)"/.test(line)

/** A process and everything below it. */
export function processTree(pid: number): number[] {
  const pairs = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const found = [pid]
  for (const parent of found)
    for (const [child, ppid] of pairs) if (ppid === parent && child !== undefined) found.push(child)
  return found
}

/** TCP ports on which any of the processes listens, from the kernel's own table. */
export function listeningPorts(pids: readonly number[]): number[] {
  const inodes = new Set(pids.flatMap(socketInodes))
  const ports: number[] = []
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    if (!fs.existsSync(table)) continue
    for (const line of fs.readFileSync(table, 'utf8').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      const [, local = '', , state] = fields
      if (state === '0A' && inodes.has(fields[9] ?? '')) ports.push(Number.parseInt(local.split(':')[1] ?? '0', 16))
    }
  }
  return ports
}

function socketInodes(pid: number): string[] {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return [] // closed meanwhile
      }
    })
  } catch {
    return [] // ended meanwhile
  }
}
