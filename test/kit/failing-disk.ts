import type { Disk } from '../../daemon/rollback/disk.ts'
import type { Journals } from '../../daemon/rollback/journal.ts'

/** What happens at the step: the process is killed before it, or the file system refuses it, once or from then on. */
export type Fault = 'none' | 'SIGKILL' | 'ENOSPC' | 'EIO' | 'EROFS'

/** Ends or fails before the step with the number `at`; a full or read-only disk stays so for what needs room or writes. */
const stepper = (fault: Fault, at: number, count: () => number) => (needsRoom: boolean) => {
  const now = count()
  if (fault === 'none' || now < at) return
  if (fault === 'SIGKILL') {
    if (now === at) process.kill(process.pid, 'SIGKILL')
    // The signal arrives at once; nothing after this line is reached.
    while (now === at);
  }
  const lasts = fault === 'EROFS' || (fault === 'ENOSPC' && needsRoom)
  if (now === at || lasts) throw Object.assign(new Error(`${fault}: planted`), { code: fault })
}

export function failingDisk(disk: Disk, fault: Fault, at: number, count: () => number): Disk {
  const step = stepper(fault, at, count)
  const before =
    <A extends unknown[], R>(needsRoom: boolean, work: (...args: A) => R) =>
    (...args: A): R => {
      step(needsRoom)
      return work(...args)
    }
  return {
    ...disk,
    create: async (...args) => {
      step(true)
      await disk.create(...args)
      step(false)
    },
    symlink: before(true, disk.symlink),
    link: before(true, disk.link),
    rename: before(false, disk.rename),
    unlink: before(false, disk.unlink),
    mkdir: before(true, disk.mkdir),
    rmdir: before(false, disk.rmdir),
    syncFolder: before(false, disk.syncFolder),
  }
}

export function failingJournals(journals: Journals, fault: Fault, at: number, count: () => number): Journals {
  const step = stepper(fault, at, count)
  return {
    list: journals.list,
    async write(journal) {
      step(true)
      await journals.write(journal)
      step(false)
    },
    async remove(id) {
      step(false)
      await journals.remove(id)
    },
  }
}
