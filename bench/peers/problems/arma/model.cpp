#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(y);
    PARAMETER(mu); PARAMETER(logit_phi); PARAMETER(logit_theta); PARAMETER(log_sigma);
    Type phi = 2 * invlogit(logit_phi) - 1, theta = 2 * invlogit(logit_theta) - 1, sigma = exp(log_sigma);
    Type log_p = dnorm(mu, Type(0), Type(10), true) + log(1 - phi * phi) + log(1 - theta * theta) +
                 dnorm(sigma, Type(0), Type(2.5), true) + log_sigma;
    Type nu = mu + phi * mu;
    for (int t = 0; t < y.size(); t++) {
        if (t > 0) nu = mu + phi * y(t - 1) + theta * (y(t - 1) - nu);
        log_p += dnorm(y(t), nu, sigma, true);
    }
    ADREPORT(mu); ADREPORT(phi); ADREPORT(theta); ADREPORT(sigma);
    return -log_p;
}
