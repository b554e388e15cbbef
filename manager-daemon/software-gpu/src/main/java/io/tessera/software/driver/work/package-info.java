/** Work of the device: tasks, what they wait for, the threads that run them, and events. */
package io.tessera.software.driver.work;
