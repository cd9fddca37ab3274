/** A path as seen from the workspace; others stay whole. */
export const relativeTo = (workspace: string | null, path: string) =>
  workspace !== null && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
