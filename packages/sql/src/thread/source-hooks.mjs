// Lets the database thread start from TypeScript source, which Node 24 runs as it is: `./x.js` means `./x.ts`.
// Used by tests only; a build has JavaScript.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    next(
      /^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')
        ? `${specifier.slice(0, -3)}.ts`
        : specifier,
      context,
    ),
});
