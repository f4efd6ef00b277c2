/* Opens the device that its argument names and says what came of it. A test copies it to other folders. */
#include <stdio.h>

#include "fmha.h"

int main(int count, char **arguments) {
    fmha_device *device;
    fmha_status status = count == 2 ? fmha_device_open(arguments[1], &device) : FMHA_ERROR_ARGUMENT;
    if (status != FMHA_OK) {
        puts(fmha_last_error());
        return 1;
    }
    fmha_device_info info;
    fmha_device_get_info(device, &info);
    printf("%s: %s\n", info.driver, info.name);
    fmha_device_close(device);
    return 0;
}
