import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';

/** The longest text that a tool's answer becomes, in characters. */
export const MOST_OUTPUT = 1024 * 1024;

/** What stands before the words of a tool that has failed (spec, MCP tools in agents). */
export const FAILURE_PREFIX = 'Error from MCP tool:';

/**
 * The answer of a tool as text: text as it is, images and resources as what they are called, other blocks as JSON, a block
 * a line. Structured content stands in when there is no block.
 */
export function outputOf({ content = [], structuredContent }: Partial<CallToolResult>): string {
  const isBare = content.length === 0 && structuredContent !== undefined;
  const text = isBare ? JSON.stringify(structuredContent) : content.map(blockText).join('\n');
  if (text.length <= MOST_OUTPUT) return text;
  return `${text.slice(0, MOST_OUTPUT)}\n[${text.length - MOST_OUTPUT} more characters were cut off]`;
}

/** The words of a tool that has failed, for a model. */
export function failureText(words: string): string {
  return `${FAILURE_PREFIX} ${words || 'it failed without saying why'}`;
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return `[image: ${block.mimeType}]`;
    case 'resource':
      return `[resource: ${block.resource.uri}]`;
    default:
      return JSON.stringify(block);
  }
}
