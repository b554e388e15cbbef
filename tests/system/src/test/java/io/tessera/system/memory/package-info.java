/** Device memory of clients with their own contexts: plans, limits, swap, suspension, and memory that processes hand each other. */
package io.tessera.system.memory;
