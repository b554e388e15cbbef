/** The device behind the executor: its driver, its one context, and what clients are told about it. */
package io.tessera.executor.driver;
