#include "driver/user.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_BYTES 512

/* Defined by the linker: the start of the section that DRIVER_USED_BY() fills; NULL: there is none. */
extern const struct driver_user *const __start_tessera_driver_user[] __attribute__((weak, visibility("hidden")));

static const char *no_text(void)
{
    return "";
}

static void tell_nobody(const char *line)
{
    (void)line;
}

static void count_nothing(int code, const char *text)
{
    (void)code;
    (void)text;
}

const struct driver_user *driver_user(void)
{
    static const struct driver_user nobody = {
        .library = no_text, .wrong = no_text, .say = tell_nobody, .count = count_nothing};
    return __start_tessera_driver_user ? __start_tessera_driver_user[0] : &nobody;
}

void driver_say(const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    driver_user()->say(text);
}

void driver_count(int code, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    driver_user()->count(code, text);
}
