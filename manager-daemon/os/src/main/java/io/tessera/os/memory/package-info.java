/** How much memory the host has, and how much of it is available. */
package io.tessera.os.memory;
