import type {
  CallToolResult,
  Client,
  JsonSchemaValidator,
  jsonSchemaValidator,
  Tool,
  Transport,
} from '@modelcontextprotocol/client';
import { fail } from '../../../../src/errors/app-error.ts';
import { MINUTE_MS } from '../../../../src/kit/time.ts';

/** A way to a server that is not used yet. */
export interface Way {
  readonly transport: Transport;
  /** Older servers alone speak this way: nothing else is tried. */
  readonly isOld: boolean;
  /** Says goodbye and frees what the way stands on. Called once, before the transport is closed. */
  end(): Promise<void>;
  /** Why it ended by itself; undefined while it has not. */
  failure?(): Error | undefined;
}

/** How a server is greeted. */
export interface Greeting {
  /** The version of svc. */
  readonly version: string;
  readonly timeoutMs: number;
  /** Nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** A tool to call, and how long it may take. */
export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the server has said of its arguments: some of them travel as headers too (MCP 2026-07-28). */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Milliseconds of silence; a report of progress begins them anew. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The longest call, whatever progress it reports. */
const LONGEST_CALL_MS = 15 * MINUTE_MS;
const PROBE_MS = 10_000;
const MOST_PAGES = 64;
/** Characters of JSON after which no further page is asked for. */
const MOST_LISTING = 8 * 1024 * 1024;

/** What a tool answers is passed on as it is, so nothing is compiled of what a server says it will be. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (value) => ({ valid: true, data: value as T, errorMessage: undefined });
  },
};

/** A server that is being talked to. It speaks the revision of the protocol that the server speaks. */
export class Connection {
  /** It is closed, by either side. */
  isClosed = false;
  /** Told when it is closed by the other side. */
  onLost: (() => void) | undefined;
  /** Told when the server says that its tools are others now. */
  onToolsChanged: (() => void) | undefined;
  private ending: Promise<void> | undefined;

  private constructor(
    private readonly client: Client,
    private readonly way: Way,
  ) {}

  /** Greets a server. Errors: whatever the transport says, as it says it. */
  static async open(way: Way, { version, timeoutMs, signal }: Greeting): Promise<Connection> {
    // What only servers of tenants need is not read at each start.
    const { Client } = await import('@modelcontextprotocol/client');
    const client = new Client(
      { name: 'svc', version },
      {
        capabilities: {},
        versionNegotiation: {
          mode: way.isOld ? 'legacy' : 'auto',
          probe: { timeoutMs: Math.min(PROBE_MS, timeoutMs) },
        },
        jsonSchemaValidator: UNCHECKED,
      },
    );
    const connection = new Connection(client, way);
    client.onclose = () => {
      if (connection.isClosed) return;
      connection.isClosed = true;
      connection.onLost?.();
    };
    try {
      await client.connect(way.transport, { timeout: timeoutMs, signal });
      client.setNotificationHandler('notifications/tools/list_changed', () => connection.onToolsChanged?.());
      return connection;
    } catch (error) {
      const failure = way.failure?.() ?? error;
      await connection.close();
      throw failure;
    }
  }

  /** What the server offers now; of a list without an end the first part. */
  async tools(timeoutMs: number): Promise<readonly Tool[]> {
    if (!this.client.getServerCapabilities()?.tools) return [];
    const found: Tool[] = [];
    let size = 0;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const listing = this.client.request({ method: 'tools/list', params }, { timeout: timeoutMs });
      const { tools, nextCursor } = await this.explained(listing);
      found.push(...tools);
      size += JSON.stringify(tools).length;
      if (nextCursor === undefined || nextCursor === '' || size > MOST_LISTING) break;
      cursor = nextCursor;
    }
    return found;
  }

  /** Asks whether the server is there. */
  async ping(timeoutMs: number): Promise<void> {
    const isModern = this.client.getProtocolEra() === 'modern';
    const how = { timeout: timeoutMs };
    await this.explained<unknown>(isModern ? this.client.discover(how) : this.client.ping(how));
  }

  /** Calls a tool. Errors: cancelled, and whatever the library says. */
  async call({ name, args, inputSchema, timeoutMs, signal }: ToolCall): Promise<CallToolResult> {
    if (signal.aborted) throw fail('cancelled');
    const schema = { type: 'object' as const, ...inputSchema };
    const call = this.client.callTool(
      { name, arguments: { ...args } },
      {
        signal,
        timeout: timeoutMs,
        maxTotalTimeout: LONGEST_CALL_MS,
        resetTimeoutOnProgress: true,
        onprogress: () => undefined,
        toolDefinition: { name, inputSchema: schema },
      },
    );
    return this.explained(call);
  }

  /** Of a way that has ended by itself its own words are told. */
  private explained<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw this.way.failure?.() ?? error;
    });
  }

  /** Ends it; calls that go on fail. */
  close(): Promise<void> {
    this.isClosed = true;
    this.ending ??= this.way.end().then(() => this.client.close().catch(() => undefined));
    return this.ending;
  }
}
