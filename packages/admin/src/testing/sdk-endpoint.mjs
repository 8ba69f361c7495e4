// A deployment made with the real SDK, in a process of its own. Tells its port and lives as long as its parent.
import * as restate from '@restatedev/restate-sdk';

const greeter = restate.service({
  name: 'Greeter',
  handlers: { greet: async (_ctx, name) => `Hello ${name}` },
});
const counter = restate.object({
  name: 'Counter',
  handlers: {
    add: async (_ctx, n) => n,
    get: restate.handlers.object.shared(async () => 0),
  },
});
const flow = restate.workflow({ name: 'Flow', handlers: { run: async () => 'done' } });

const port = await restate.serve({ services: [greeter, counter, flow], port: 0 });
process.send({ port });
process.on('disconnect', () => process.exit(0));
