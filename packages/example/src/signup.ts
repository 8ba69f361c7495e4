import {
  workflow,
  type WorkflowContext,
  type WorkflowSharedContext,
} from '@restatedev/restate-sdk';

/** A workflow: `run` happens once for each key, and other handlers may talk to it meanwhile. */
export const signup = workflow({
  name: 'Signup',
  handlers: {
    run: async (ctx: WorkflowContext, email: string): Promise<string> => {
      ctx.set('email', email);
      const secret = await ctx.run('send the mail', () => sendMail(email));
      const given = await ctx.promise<string>('confirmed');
      ctx.set('confirmed', given === secret);
      return given === secret ? `${email} is confirmed` : `${email} is not confirmed`;
    },

    confirm: async (ctx: WorkflowSharedContext, secret: string): Promise<void> => {
      await ctx.promise<string>('confirmed').resolve(secret);
    },
  },
});

/** Stands for a mail provider; the "mail" appears in the terminal. */
function sendMail(email: string): string {
  const secret = String(Math.floor(Math.random() * 900_000) + 100_000);
  console.info(`Mail to ${email}: your code is ${secret}`);
  return secret;
}
