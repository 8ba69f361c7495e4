export { counter } from './counter.js';
export { greeter } from './greeter.js';
export { signup } from './signup.js';
