/** Device memory of clients that have contexts of their own: plans, limits, swap, suspension, and memory that processes hand each other. */
package io.tessera.system.memory;
