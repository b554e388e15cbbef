/** Modules as the driver interface has them: functions with attributes, libraries, the JIT's options and linker. */
package io.tessera.software.driver.module;
