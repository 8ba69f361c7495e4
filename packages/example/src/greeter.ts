import { service, TerminalError, type Context } from '@restatedev/restate-sdk';

/** What `remind` takes: a text, and how long to sleep before it is shown. */
interface Reminder {
  readonly text: string;
  readonly seconds: number;
}

/** A plain service: any number of calls run side by side. */
export const greeter = service({
  name: 'Greeter',
  handlers: {
    /** Each finished step is kept. After a crash the handler runs again and gets the kept answer, not a second one. */
    greet: async (ctx: Context, name: string): Promise<string> => {
      if (typeof name !== 'string') throw new TerminalError('send a name, as JSON text');
      const word = await ctx.run('choose a greeting', chooseGreeting);
      return `${word}, ${name}!`;
    },

    /** The sleep is kept by the engine. It goes on while the engine is down, and nothing waits in this process. */
    remind: async (ctx: Context, { text, seconds }: Reminder): Promise<string> => {
      ctx.console.info(`In ${seconds} seconds: ${text}`);
      await ctx.sleep({ seconds });
      ctx.console.info(text);
      return text;
    },
  },
});

function chooseGreeting(): string {
  const words = ['Hello', 'Good day', 'Welcome'];
  return words[Math.floor(Math.random() * words.length)] ?? 'Hello';
}
