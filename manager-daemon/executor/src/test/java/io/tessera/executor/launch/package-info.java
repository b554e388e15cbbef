/** Where launches go. */
package io.tessera.executor.launch;
