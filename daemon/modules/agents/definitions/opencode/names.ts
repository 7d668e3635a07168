/** The tools of opencode that have a counterpart, by their names there. */
export const TOOLS: Readonly<Record<string, string>> = {
  bash: 'sandbox_shell',
  read: 'sandbox_read_file',
  write: 'sandbox_write_file',
  edit: 'sandbox_edit',
  list: 'sandbox_list_files',
  glob: 'sandbox_glob',
  grep: 'sandbox_grep',
  webfetch: 'web_fetch',
  websearch: 'web_search',
  task: 'spawn_agent',
  question: 'ask_user',
};

/** Tools of opencode without a counterpart. */
export const FOREIGN_TOOLS: ReadonlySet<string> = new Set([
  'apply_patch',
  'codesearch',
  'lsp',
  'multiedit',
  'patch',
  'skill',
  'todoread',
  'todowrite',
]);

/** The permission that a tool of opencode stands under: `edit` is for everything that changes files. */
export function permissionOf(tool: string): string {
  return tool === 'write' ? 'edit' : tool;
}

/** Permissions of opencode and the tools of opencode that stand under them. */
export const PERMISSIONS: Readonly<Record<string, readonly string[]>> = Object.groupBy(
  Object.keys(TOOLS),
  permissionOf,
) as Record<string, string[]>;

/** Permissions whose tools only look. */
export const READS: ReadonlySet<string> = new Set(['read', 'list', 'glob', 'grep', 'webfetch', 'websearch']);
