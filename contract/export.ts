import { z } from 'zod'

export const exportFormats = ['bundle', 'md', 'html', 'json', 'jsonl'] as const
export const exportFormatSchema = z.enum(exportFormats)
export type ExportFormat = z.infer<typeof exportFormatSchema>
