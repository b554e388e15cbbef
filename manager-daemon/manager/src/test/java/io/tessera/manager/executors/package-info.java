/** Tests of what the manager knows of its executors. */
package io.tessera.manager.executors;
