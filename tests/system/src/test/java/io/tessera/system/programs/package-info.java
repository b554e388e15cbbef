/** Programs as they are: how they reach the library, what they may do as processes, and what NVIDIA's compiler makes of them. */
package io.tessera.system.programs;
