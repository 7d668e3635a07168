import type { Branch } from '../verb.ts';

/** Every command: its name, its line in the help, and the file that is loaded when it runs. */
export const tree: Branch = {
  summary: '',
  commands: {
    up: {
      summary: 'Check this host, start the daemon, and try it',
      load: async () => (await import('./instance/up.ts')).up,
    },
    down: { summary: 'Stop the daemon', load: async () => (await import('./instance/down.ts')).down },
    status: {
      summary: 'Show whether the daemon answers',
      load: async () => (await import('./instance/status.ts')).status,
    },
    doctor: {
      summary: 'Check whether this host can run sandboxes',
      load: async () => (await import('./instance/doctor.ts')).doctor,
    },
    serve: {
      summary: 'Run the daemon in the foreground',
      load: async () => (await import('./instance/serve.ts')).serve,
    },
    sandbox: {
      summary: 'Make and use sandboxes',
      commands: {
        create: {
          summary: 'Create a sandbox and print its id',
          load: async () => (await import('./sandbox/create.ts')).create,
        },
        list: { summary: 'List sandboxes', load: async () => (await import('./sandbox/list.ts')).list },
        get: { summary: 'Show a sandbox', load: async () => (await import('./sandbox/get.ts')).get },
        exec: {
          summary: 'Run a command in a sandbox',
          load: async () => (await import('./sandbox/exec.ts')).exec,
        },
        shell: {
          summary: 'Open a terminal in a sandbox',
          load: async () => (await import('./sandbox/shell.ts')).shell,
        },
        run: {
          summary: 'Run code that keeps its variables',
          load: async () => (await import('./sandbox/run.ts')).run,
        },
        repl: {
          summary: 'Run code line by line',
          load: async () => (await import('./sandbox/repl.ts')).repl,
        },
        contexts: {
          summary: 'See and close the contexts that code runs in',
          commands: {
            list: {
              summary: 'List the contexts of a sandbox',
              load: async () => (await import('./sandbox/contexts/list.ts')).list,
            },
            create: {
              summary: 'Open a context and print its id',
              load: async () => (await import('./sandbox/contexts/create.ts')).create,
            },
            interrupt: {
              summary: 'Stop what runs in a context',
              load: async () => (await import('./sandbox/contexts/interrupt.ts')).interrupt,
            },
            rm: {
              summary: 'Close contexts',
              load: async () => (await import('./sandbox/contexts/remove.ts')).remove,
            },
          },
        },
        cp: {
          summary: 'Copy files to or from a sandbox',
          load: async () => (await import('./sandbox/cp.ts')).cp,
        },
        files: {
          summary: 'Look at and change files of a sandbox',
          commands: {
            ls: {
              summary: 'List a directory',
              load: async () => (await import('./sandbox/files/ls.ts')).ls,
            },
            cat: {
              summary: 'Print files',
              load: async () => (await import('./sandbox/files/cat.ts')).cat,
            },
            rm: {
              summary: 'Remove files or directories',
              load: async () => (await import('./sandbox/files/rm.ts')).rm,
            },
            mv: {
              summary: 'Move or rename',
              load: async () => (await import('./sandbox/files/mv.ts')).mv,
            },
            mkdir: {
              summary: 'Make directories',
              load: async () => (await import('./sandbox/files/mkdir.ts')).mkdir,
            },
            find: {
              summary: 'Find files by name',
              load: async () => (await import('./sandbox/files/find.ts')).find,
            },
            grep: {
              summary: 'Find lines by a pattern',
              load: async () => (await import('./sandbox/files/grep.ts')).grep,
            },
          },
        },
        logs: {
          summary: 'Show what a command printed',
          load: async () => (await import('./sandbox/logs.ts')).logs,
        },
        stop: {
          summary: 'Put sandboxes to sleep and keep their files',
          load: async () => (await import('./sandbox/stop.ts')).stop,
        },
        revive: {
          summary: 'Wake sleeping sandboxes',
          load: async () => (await import('./sandbox/revive.ts')).revive,
        },
        resize: {
          summary: 'Change the cores and memory of a sandbox',
          load: async () => (await import('./sandbox/resize.ts')).resize,
        },
        archive: {
          summary: 'Pack sleeping sandboxes into cold storage',
          load: async () => (await import('./sandbox/archive.ts')).archive,
        },
        restore: {
          summary: 'Bring archived sandboxes back',
          load: async () => (await import('./sandbox/restore.ts')).restore,
        },
        fork: {
          summary: 'Make running copies of a sandbox with its files',
          load: async () => (await import('./sandbox/fork.ts')).fork,
        },
        recreate: {
          summary: 'Make a new sandbox like an old one',
          load: async () => (await import('./sandbox/recreate.ts')).recreate,
        },
        terminate: {
          summary: 'End sandboxes for good',
          load: async () => (await import('./sandbox/terminate.ts')).terminate,
        },
        rm: {
          summary: 'Remove sandboxes for good',
          load: async () => (await import('./sandbox/remove.ts')).remove,
        },
        stats: {
          summary: 'Show what a sandbox uses',
          load: async () => (await import('./sandbox/stats.ts')).stats,
        },
        top: {
          summary: 'Watch all running sandboxes',
          load: async () => (await import('./sandbox/top.ts')).top,
        },
        history: {
          summary: 'Draw what a sandbox used in the last two hours',
          load: async () => (await import('./sandbox/history.ts')).history,
        },
        network: {
          summary: 'See and change what a sandbox reaches',
          commands: {
            show: {
              summary: 'Show what a sandbox reaches',
              load: async () => (await import('./sandbox/network/show.ts')).show,
            },
            set: {
              summary: 'Change what a sandbox reaches, at once',
              load: async () => (await import('./sandbox/network/set.ts')).set,
            },
            log: {
              summary: 'List the names that a sandbox looked up',
              load: async () => (await import('./sandbox/network/log.ts')).log,
            },
          },
        },
        events: {
          summary: 'Show what happened to a sandbox',
          load: async () => (await import('./sandbox/events.ts')).events,
        },
        ports: {
          summary: 'Reach the ports of a sandbox',
          commands: {
            list: {
              summary: 'List the exposed ports',
              load: async () => (await import('./sandbox/ports/list.ts')).list,
            },
            expose: {
              summary: 'Give a port an address of its own',
              load: async () => (await import('./sandbox/ports/expose.ts')).expose,
            },
            unexpose: {
              summary: 'Take the address of a port away',
              load: async () => (await import('./sandbox/ports/unexpose.ts')).unexpose,
            },
            detect: {
              summary: 'Show what listens in a sandbox',
              load: async () => (await import('./sandbox/ports/detect.ts')).detect,
            },
          },
        },
        preview: {
          summary: 'Print a link to a port that expires',
          load: async () => (await import('./sandbox/preview.ts')).preview,
        },
        forward: {
          summary: 'Make a port of this machine lead into a sandbox',
          load: async () => (await import('./sandbox/forward.ts')).forward,
        },
        cron: {
          summary: 'Run commands by the clock',
          commands: {
            list: {
              summary: 'List the scheduled commands',
              load: async () => (await import('./sandbox/cron/list.ts')).list,
            },
            create: {
              summary: 'Schedule a command',
              load: async () => (await import('./sandbox/cron/create.ts')).create,
            },
            update: {
              summary: 'Change a scheduled command',
              load: async () => (await import('./sandbox/cron/update.ts')).update,
            },
            rm: {
              summary: 'Remove scheduled commands',
              load: async () => (await import('./sandbox/cron/remove.ts')).remove,
            },
            runs: {
              summary: 'Show how runs went',
              load: async () => (await import('./sandbox/cron/runs.ts')).runs,
            },
          },
        },
        webhook: {
          summary: 'Run commands when an address is called',
          commands: {
            list: {
              summary: 'List the webhooks',
              load: async () => (await import('./sandbox/webhook/list.ts')).list,
            },
            create: {
              summary: 'Make a webhook and print its secret',
              load: async () => (await import('./sandbox/webhook/create.ts')).create,
            },
            update: {
              summary: 'Change a webhook',
              load: async () => (await import('./sandbox/webhook/update.ts')).update,
            },
            rm: {
              summary: 'Remove webhooks',
              load: async () => (await import('./sandbox/webhook/remove.ts')).remove,
            },
            runs: {
              summary: 'Show how runs went',
              load: async () => (await import('./sandbox/webhook/runs.ts')).runs,
            },
          },
        },
        notify: {
          summary: 'Tell an address what happens to sandboxes',
          commands: {
            list: {
              summary: 'List the addresses',
              load: async () => (await import('./sandbox/notify/list.ts')).list,
            },
            add: {
              summary: 'Add an address and print its secret',
              load: async () => (await import('./sandbox/notify/add.ts')).add,
            },
            rm: {
              summary: 'Remove addresses',
              load: async () => (await import('./sandbox/notify/remove.ts')).remove,
            },
            deliveries: {
              summary: 'Show how deliveries went',
              load: async () => (await import('./sandbox/notify/deliveries.ts')).deliveries,
            },
            test: {
              summary: 'Send a test event',
              load: async () => (await import('./sandbox/notify/test.ts')).test,
            },
            replay: {
              summary: 'Send a delivery once more',
              load: async () => (await import('./sandbox/notify/replay.ts')).replay,
            },
          },
        },
        templates: {
          summary: 'List templates to start from',
          load: async () => (await import('./sandbox/templates.ts')).templates,
        },
        ssh: {
          summary: 'Connect to a sandbox by SSH',
          load: async () => (await import('./sandbox/ssh.ts')).ssh,
        },
        'ssh-info': {
          summary: 'Show where and how to connect by SSH',
          load: async () => (await import('./sandbox/ssh-info.ts')).sshInfo,
        },
        'ssh-config': {
          summary: 'Print a block for ~/.ssh/config',
          load: async () => (await import('./sandbox/ssh-config.ts')).sshConfig,
        },
        'ssh-enable': {
          summary: 'Let people into sandboxes by SSH',
          load: async () => (await import('./sandbox/ssh-switch.ts')).sshEnable,
        },
        'ssh-disable': {
          summary: 'Let nobody into sandboxes by SSH',
          load: async () => (await import('./sandbox/ssh-switch.ts')).sshDisable,
        },
        'ssh-key': {
          summary: 'Register the keys that you connect with',
          aliases: ['ssh-keys'],
          commands: {
            add: { summary: 'Store a public key', load: async () => (await import('./ssh-key/add.ts')).add },
            list: { summary: 'List your keys', load: async () => (await import('./ssh-key/list.ts')).list },
            rm: {
              summary: 'Remove a key',
              aliases: ['delete'],
              load: async () => (await import('./ssh-key/remove.ts')).remove,
            },
          },
        },
        'ssh-token': {
          summary: 'Make temporary credentials for SSH',
          commands: {
            create: {
              summary: 'Create a token and print the command that connects',
              load: async () => (await import('./ssh-token/create.ts')).create,
            },
            list: {
              summary: 'List the tokens that are still good',
              load: async () => (await import('./ssh-token/list.ts')).list,
            },
            rm: {
              summary: 'Revoke a token',
              load: async () => (await import('./ssh-token/remove.ts')).remove,
            },
          },
        },
        overview: {
          summary: 'Sum up all sandboxes',
          load: async () => (await import('./sandbox/overview.ts')).overview,
        },
      },
    },
    otlp: {
      summary: 'Send metrics and traces of sandboxes to a receiver',
      commands: {
        get: { summary: 'Show where they go', load: async () => (await import('./otlp/get.ts')).get },
        set: { summary: 'Say where they go', load: async () => (await import('./otlp/set.ts')).set },
        test: { summary: 'Send a test span', load: async () => (await import('./otlp/test.ts')).test },
      },
    },
    response: {
      summary: 'See the responses that are kept, and end those in the background',
      commands: {
        list: { summary: 'List the responses', load: async () => (await import('./response/list.ts')).list },
        get: { summary: 'Show a response', load: async () => (await import('./response/get.ts')).get },
        cancel: {
          summary: 'End responses that are made in the background',
          load: async () => (await import('./response/cancel.ts')).cancel,
        },
        rm: { summary: 'Remove responses', load: async () => (await import('./response/remove.ts')).remove },
      },
    },
    snapshot: {
      summary: 'Keep the files of sandboxes, to start others from',
      commands: {
        create: {
          summary: 'Keep a sandbox or an image as it is now',
          load: async () => (await import('./snapshot/create.ts')).create,
        },
        list: { summary: 'List the snapshots', load: async () => (await import('./snapshot/list.ts')).list },
        get: { summary: 'Show a snapshot', load: async () => (await import('./snapshot/get.ts')).get },
        rm: { summary: 'Remove snapshots', load: async () => (await import('./snapshot/remove.ts')).remove },
      },
    },
    volume: {
      summary: 'Make storage that outlives sandboxes and is shared by them',
      commands: {
        create: { summary: 'Make a volume', load: async () => (await import('./volume/create.ts')).create },
        list: { summary: 'List the volumes', load: async () => (await import('./volume/list.ts')).list },
        rm: {
          summary: 'Remove volumes and what is in them',
          load: async () => (await import('./volume/remove.ts')).remove,
        },
      },
    },
    agent: {
      summary: 'Make and change agents: their models, instructions, tools and approvals',
      aliases: ['agents'],
      commands: {
        list: { summary: 'List the agents', load: async () => (await import('./agent/list.ts')).list },
        create: {
          summary: 'Make an agent and print its id',
          load: async () => (await import('./agent/create.ts')).create,
        },
        get: { summary: 'Show an agent', load: async () => (await import('./agent/get.ts')).get },
        edit: {
          summary: 'Change an agent, by options or in an editor',
          aliases: ['update'],
          load: async () => (await import('./agent/edit.ts')).edit,
        },
        rm: { summary: 'Remove agents', load: async () => (await import('./agent/remove.ts')).remove },
        versions: {
          summary: 'Show how an agent was changed',
          load: async () => (await import('./agent/versions.ts')).versions,
        },
        restore: {
          summary: 'Make an agent what it was',
          load: async () => (await import('./agent/restore.ts')).restore,
        },
        export: {
          summary: 'Print an agent for opencode',
          load: async () => (await import('./agent/export.ts')).exportAgent,
        },
        import: {
          summary: 'Make an agent out of one of opencode',
          load: async () => (await import('./agent/import.ts')).importAgent,
        },
        memory: {
          summary: 'See and change what agents remember',
          aliases: ['memories'],
          commands: {
            list: {
              summary: 'List what an agent remembers',
              load: async () => (await import('./agent-memory/list.ts')).list,
            },
            add: {
              summary: 'Give an agent a memory and print its id',
              load: async () => (await import('./agent-memory/add.ts')).add,
            },
            edit: {
              summary: 'Change a memory',
              aliases: ['update'],
              load: async () => (await import('./agent-memory/edit.ts')).edit,
            },
            retire: {
              summary: 'Take memories out of use and keep their record',
              load: async () => (await import('./agent-memory/retire.ts')).retire,
            },
            rm: {
              summary: 'Remove memories for good',
              load: async () => (await import('./agent-memory/remove.ts')).remove,
            },
          },
        },
      },
    },
    session: {
      summary: 'Give agents work, watch it, and decide what they ask',
      aliases: ['sessions'],
      commands: {
        run: {
          summary: 'Run one turn of an agent',
          load: async () => (await import('./session/run.ts')).run,
        },
        list: { summary: 'List the sessions', load: async () => (await import('./session/list.ts')).list },
        show: {
          summary: 'Show what was said and done in a session, and what it waits for',
          load: async () => (await import('./session/show.ts')).show,
        },
        tail: {
          summary: 'Print what happened in a session, and what happens',
          load: async () => (await import('./session/tail.ts')).tail,
        },
        artifacts: {
          summary: 'List what a session keeps beside its conversation, or get one of them',
          load: async () => (await import('./session/artifacts.ts')).artifacts,
        },
        steer: {
          summary: 'Say something to a turn that is under way, or answer its question',
          load: async () => (await import('./session/steer.ts')).steer,
        },
        approve: {
          summary: 'Let the calls be carried out that a session waits with',
          load: async () => (await import('./session/approve.ts')).approve,
        },
        deny: {
          summary: 'Refuse the calls that a session waits with',
          load: async () => (await import('./session/deny.ts')).deny,
        },
        interrupt: {
          summary: 'End the turn that is under way; the session goes on',
          load: async () => (await import('./session/interrupt.ts')).interrupt,
        },
        complete: {
          summary: 'Close sessions that are done',
          load: async () => (await import('./session/complete.ts')).complete,
        },
        cancel: {
          summary: 'End sessions and everything that they do, for good',
          load: async () => (await import('./session/cancel.ts')).cancel,
        },
        tree: {
          summary: 'Draw the agents that agents have started',
          load: async () => (await import('./session/tree.ts')).tree,
        },
      },
    },
    review: {
      summary: 'See and decide the calls of agents that wait for leave',
      aliases: ['reviews', 'approval', 'approvals'],
      commands: {
        list: {
          summary: 'List what waits for a decision',
          load: async () => (await import('./review/list.ts')).list,
        },
        show: {
          summary: 'Show the calls of a review',
          load: async () => (await import('./review/show.ts')).show,
        },
        approve: {
          summary: 'Let calls be carried out',
          load: async () => (await import('./review/approve.ts')).approve,
        },
        deny: {
          summary: 'Keep calls from being carried out',
          load: async () => (await import('./review/deny.ts')).deny,
        },
      },
    },
    function: {
      summary: 'Make and call functions: endpoints, mapped APIs, and code in sandboxes',
      aliases: ['functions', 'fn'],
      commands: {
        list: { summary: 'List the functions', load: async () => (await import('./function/list.ts')).list },
        create: {
          summary: 'Make a function and print its id',
          load: async () => (await import('./function/create.ts')).create,
        },
        get: { summary: 'Show a function', load: async () => (await import('./function/get.ts')).get },
        update: {
          summary: 'Change a function',
          load: async () => (await import('./function/update.ts')).update,
        },
        rm: {
          summary: 'Remove functions',
          load: async () => (await import('./function/remove.ts')).remove,
        },
        invoke: {
          summary: 'Call a function and print its result',
          load: async () => (await import('./function/invoke.ts')).invoke,
        },
        runs: {
          summary: 'Show how the last calls went',
          load: async () => (await import('./function/runs.ts')).runs,
        },
        status: {
          summary: 'Show whether code can run in isolation',
          load: async () => (await import('./function/status.ts')).status,
        },
      },
    },
    mcp: {
      summary: 'Connect MCP servers and call their tools; connect MCP clients to svc',
      commands: {
        list: { summary: 'List the servers', load: async () => (await import('./mcp/list.ts')).list },
        add: {
          summary: 'Register a server and print its id',
          load: async () => (await import('./mcp/add.ts')).add,
        },
        get: { summary: 'Show a server', load: async () => (await import('./mcp/get.ts')).get },
        update: { summary: 'Change a server', load: async () => (await import('./mcp/update.ts')).update },
        rm: {
          summary: 'Remove servers with their tools and credentials',
          load: async () => (await import('./mcp/remove.ts')).remove,
        },
        authorize: {
          summary: 'Let svc use a server that asks for OAuth 2',
          load: async () => (await import('./mcp/authorize.ts')).authorize,
        },
        tools: {
          summary: 'List the tools of all servers, or ask one for its tools',
          load: async () => (await import('./mcp/tools.ts')).tools,
        },
        call: {
          summary: 'Call a tool and print its answer',
          load: async () => (await import('./mcp/call.ts')).call,
        },
        health: {
          summary: 'Show whether servers answer',
          load: async () => (await import('./mcp/health.ts')).health,
        },
        switch: {
          summary: 'See and switch the tools that svc offers to MCP clients',
          load: async () => (await import('./mcp/switch.ts')).switchTool,
        },
        config: {
          summary: 'Print what connects Claude, Cursor or Windsurf to svc',
          load: async () => (await import('./mcp/config.ts')).config,
        },
      },
    },
    model: {
      summary: 'See the models that calls may name, and give them names of your own',
      aliases: ['models'],
      commands: {
        list: {
          summary: 'List the models with their context and prices',
          load: async () => (await import('./model/list.ts')).list,
        },
        test: {
          summary: 'Ask a model for a few words and measure it',
          load: async () => (await import('./model/test.ts')).test,
        },
        route: {
          summary: 'Name one model or a fallback chain of several',
          aliases: ['routes'],
          commands: {
            set: {
              summary: 'Make or replace a route',
              load: async () => (await import('./model/route/set.ts')).set,
            },
            list: {
              summary: 'List the routes',
              load: async () => (await import('./model/route/list.ts')).list,
            },
            rm: {
              summary: 'Remove routes',
              load: async () => (await import('./model/route/remove.ts')).remove,
            },
          },
        },
      },
    },
    chat: {
      summary: 'Ask a model, or talk to it',
      load: async () => (await import('./chat/chat.ts')).chat,
    },
    provider: {
      summary: 'Set up providers of models and their keys',
      aliases: ['providers'],
      commands: {
        add: {
          summary: 'Set a provider up, or change how it is',
          load: async () => (await import('./provider/add.ts')).add,
        },
        list: {
          summary: 'List those that are set up',
          load: async () => (await import('./provider/list.ts')).list,
        },
        show: { summary: 'Show a provider', load: async () => (await import('./provider/show.ts')).show },
        test: {
          summary: 'Call a provider and say what is wrong',
          load: async () => (await import('./provider/test.ts')).test,
        },
        remove: {
          summary: 'Forget providers and their keys',
          aliases: ['rm'],
          load: async () => (await import('./provider/remove.ts')).remove,
        },
        catalog: {
          summary: 'List the providers that are known',
          load: async () => (await import('./provider/catalog.ts')).catalog,
        },
        reload: {
          summary: 'Put an edited providers.yaml into force',
          load: async () => (await import('./provider/reload.ts')).reload,
        },
        key: {
          summary: 'Spread calls over several keys',
          commands: {
            add: { summary: 'Add a key', load: async () => (await import('./provider/key/add.ts')).add },
            list: {
              summary: 'List the keys',
              load: async () => (await import('./provider/key/list.ts')).list,
            },
            toggle: {
              summary: 'Switch a key on or off',
              load: async () => (await import('./provider/key/toggle.ts')).toggle,
            },
            weight: {
              summary: 'Change the share of the calls that a key gets',
              load: async () => (await import('./provider/key/weight.ts')).weight,
            },
            remove: {
              summary: 'Remove keys',
              aliases: ['rm'],
              load: async () => (await import('./provider/key/remove.ts')).remove,
            },
          },
        },
      },
    },
    gateway: {
      summary: 'See and change how the gateway behaves for your organization',
      commands: {
        status: {
          summary: 'Show the instance and its licence',
          load: async () => (await import('./gateway/status.ts')).status,
        },
        activate: {
          summary: 'Activate the instance with a token',
          load: async () => (await import('./gateway/activate.ts')).activate,
        },
        config: {
          summary: 'Limits, balancing, features, cache, telemetry and CORS, while it runs',
          commands: {
            get: {
              summary: 'Show what is in force',
              load: async () => (await import('./gateway/config/get.ts')).get,
            },
            set: {
              summary: 'Change fields of a section, or replace it',
              load: async () => (await import('./gateway/config/set.ts')).set,
            },
            reset: {
              summary: 'Put a section back to the configuration of the instance',
              load: async () => (await import('./gateway/config/reset.ts')).reset,
            },
            validate: {
              summary: 'Look at a file without applying it',
              load: async () => (await import('./gateway/config/validate.ts')).validate,
            },
          },
        },
      },
    },
    memory: {
      summary: 'Keep documents and find them by meaning and words',
      commands: {
        collection: {
          summary: 'Make and remove collections of documents',
          commands: {
            create: {
              summary: 'Create a collection and print its id',
              load: async () => (await import('./memory/collection/create.ts')).create,
            },
            list: {
              summary: 'List the collections',
              load: async () => (await import('./memory/collection/list.ts')).list,
            },
            show: {
              summary: 'Show a collection',
              load: async () => (await import('./memory/collection/show.ts')).show,
            },
            rm: {
              summary: 'Remove collections and all that is in them',
              load: async () => (await import('./memory/collection/remove.ts')).remove,
            },
          },
        },
        add: {
          summary: 'Add documents and print their ids',
          load: async () => (await import('./memory/add.ts')).add,
        },
        query: {
          summary: 'Find what answers best',
          load: async () => (await import('./memory/query.ts')).query,
        },
        rm: {
          summary: 'Remove documents',
          load: async () => (await import('./memory/remove.ts')).remove,
        },
        stats: {
          summary: 'Show how memory was used',
          load: async () => (await import('./memory/stats.ts')).stats,
        },
      },
    },
    key: {
      summary: 'Make and revoke API keys',
      commands: {
        create: {
          summary: 'Create a key and print it',
          load: async () => (await import('./key/create.ts')).create,
        },
        list: { summary: 'List the keys', load: async () => (await import('./key/list.ts')).list },
        revoke: { summary: 'End a key for good', load: async () => (await import('./key/revoke.ts')).revoke },
      },
    },
    usage: {
      summary: 'Sum up what requests to models took and cost',
      load: async () => (await import('./usage/usage.ts')).usage,
    },
    logs: {
      summary: 'Show requests to models, also as they end',
      load: async () => (await import('./logs/list.ts')).list,
      commands: {
        show: {
          summary: 'Show one request with its attempts',
          load: async () => (await import('./logs/show.ts')).show,
        },
        export: {
          summary: 'Print the log as NDJSON or CSV',
          load: async () => (await import('./logs/export.ts')).exportLog,
        },
      },
    },
    budget: {
      summary: 'Limit what may be spent on models',
      commands: {
        set: {
          summary: 'Set the budget of the tenant, a key or a person',
          load: async () => (await import('./budget/set.ts')).set,
        },
        list: {
          summary: 'List the budgets and what is spent of them',
          load: async () => (await import('./budget/list.ts')).list,
        },
        rm: {
          summary: 'Remove a budget',
          load: async () => (await import('./budget/remove.ts')).remove,
        },
      },
    },
    cache: {
      summary: 'See and clear the answers of models that are kept',
      commands: {
        stats: {
          summary: 'Show how the cache of answers stands',
          load: async () => (await import('./cache/stats.ts')).stats,
        },
        clear: {
          summary: 'Forget every kept answer',
          load: async () => (await import('./cache/clear.ts')).clear,
        },
      },
    },
    guardrail: {
      summary: 'Say what may go into models and come out',
      commands: {
        get: {
          summary: 'Show the guardrails',
          load: async () => (await import('./guardrail/get.ts')).get,
        },
        set: {
          summary: 'Change guardrails',
          load: async () => (await import('./guardrail/set.ts')).set,
        },
        off: {
          summary: 'Let everything pass',
          load: async () => (await import('./guardrail/off.ts')).off,
        },
        test: {
          summary: 'Try the guardrails on a text',
          load: async () => (await import('./guardrail/test.ts')).test,
        },
      },
    },
    login: {
      summary: 'Sign in to a daemon',
      load: async () => (await import('./account/login.ts')).login,
    },
    logout: {
      summary: 'Sign out and forget the credential',
      load: async () => (await import('./account/logout.ts')).logout,
    },
    whoami: {
      summary: 'Show who calls, and which daemon',
      load: async () => (await import('./account/whoami.ts')).whoami,
    },
    context: {
      summary: 'Choose among several daemons',
      commands: {
        add: { summary: 'Remember a daemon', load: async () => (await import('./context/add.ts')).add },
        list: { summary: 'List the contexts', load: async () => (await import('./context/list.ts')).list },
        use: { summary: 'Make a context active', load: async () => (await import('./context/use.ts')).use },
        remove: {
          summary: 'Forget a context',
          load: async () => (await import('./context/remove.ts')).remove,
        },
      },
    },
    config: {
      summary: "See and change the settings of this machine's instance",
      commands: {
        list: { summary: 'List every setting', load: async () => (await import('./config/list.ts')).list },
        get: { summary: 'Show one setting', load: async () => (await import('./config/get.ts')).get },
        set: { summary: 'Write one setting', load: async () => (await import('./config/set.ts')).set },
      },
    },
    api: {
      summary: 'Make any call of the API',
      load: async () => (await import('./api/call.ts')).call,
    },
    completion: {
      summary: 'Print a completion script for a shell',
      load: async () => (await import('./completion/print.ts')).completion,
    },
  },
};
