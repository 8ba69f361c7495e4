/** The services that a simulated world runs: small handlers that between them use everything a handler may do. */

import { controlledServices } from './controlled-services.js';
import { keyedServices } from './keyed-services.js';
import type { Lab } from './lab.js';
import { briefServices, plainServices } from './plain-services.js';
import type { ScriptedService } from './scripted-service.js';
import { waitingServices } from './waiting-services.js';

export function scriptedServices(lab: Lab): readonly ScriptedService[] {
  return [
    ...plainServices(lab),
    ...waitingServices(lab),
    ...briefServices(),
    ...keyedServices(lab),
    ...controlledServices(lab),
  ];
}
