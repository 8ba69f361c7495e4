export const storeys: readonly (readonly string[])[];
