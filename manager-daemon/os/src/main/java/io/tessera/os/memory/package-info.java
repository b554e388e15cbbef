/** Total and available memory of the host. */
package io.tessera.os.memory;
